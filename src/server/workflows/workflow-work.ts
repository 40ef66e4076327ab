import { WORKFLOW_EXECUTOR, type WorkflowWork } from '../../core/work/workflow-work.ts'

/** What a workflow run stores beyond its definition; empty for any other run. */
export function readWorkflowWork(work: string | null): Partial<WorkflowWork> {
  const read = (work === null ? {} : JSON.parse(work)) as Partial<WorkflowWork>
  return read.executor === WORKFLOW_EXECUTOR ? read : {}
}
