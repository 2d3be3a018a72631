"""The Celery application: where its broker and its results are.

Never imports the CAD kernel, which the HTTP process does without.
"""

import os

from celery import Celery

GENERATE = "generate"

app = Celery("celery_service", broker=os.environ["REDIS_URL"], backend=os.environ["REDIS_URL"])
app.conf.update(
    task_acks_late=True,  # a part that dies with its worker goes back to the queue
    worker_prefetch_multiplier=1,  # as advised for tasks that take long: no process hoards them
    broker_connection_retry_on_startup=True,
)
