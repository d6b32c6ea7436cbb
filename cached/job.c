#include "config.h"
#include "cached/job.h"

#include "cached/server.h"
#include "cached/session.h"

static void on_work(uv_work_t *w)
{
    struct job *j = w->data;

    j->run(j);
}

static void on_done(uv_work_t *w, int status)
{
    struct job *j = w->data;
    struct server *server = j->server;
    struct session *session = j->session;

    (void)status; /* jobs are never cancelled */
    server->jobs--;
    j->done(j);
    if (session)
        session_release(session);
    server_check_stop(server);
}

void job_start(struct job *j, struct server *server, struct session *session)
{
    j->server = server;
    j->session = session;
    j->work.data = j;
    server->jobs++;
    if (session)
        session_keep(session);
    uv_queue_work(&server->loop, &j->work, on_work, on_done);
}
