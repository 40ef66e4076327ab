import type { WorkflowStore, StepKey, StepRecord } from '../../store/port.ts'

const PAGE = 5_000

/** All stored steps of a workflow, in order, read page by page. */
export async function readSteps(
  store: Pick<WorkflowStore, 'workflowSteps'>,
  workflowId: number,
): Promise<StepRecord[]> {
  const steps: StepRecord[] = []
  let after: StepKey | null = null
  for (;;) {
    const page: readonly StepRecord[] = await store.workflowSteps({
      workflowId,
      after,
      limit: PAGE,
    })
    for (const step of page) steps.push(step)
    const last = page.at(-1)
    if (!last || page.length < PAGE) return steps
    after = { step: last.step, item: last.item }
  }
}
