"""The strict sandbox that every workflow runs in under test: an import or a call that is not deterministic fails there.

Never used by a worker that serves users: see docs/decisions/0005.
"""

from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions
from temporalio.workflow import SandboxImportNotificationPolicy

PASSED_THROUGH = (
    "domain",
    "activities",
    "pydantic",
    "pydantic_core",
    "annotated_types",
    "rfc8785",
    "typing_inspection",
)
"""Modules without state of their own: reloading them for each workflow would cost 100 ms and prove nothing."""


def strict_sandbox() -> SandboxedWorkflowRunner:
    """A runner that raises on whatever a workflow imports beyond what is passed through on purpose."""
    passing = SandboxRestrictions.default.with_passthrough_modules(*PASSED_THROUGH)
    policy = SandboxImportNotificationPolicy.RAISE_ON_UNINTENTIONAL_PASSTHROUGH
    return SandboxedWorkflowRunner(passing.with_import_notification_policy(policy))
