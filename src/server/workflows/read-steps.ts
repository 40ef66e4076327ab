import type { FlowStore, StepKey, StepRecord } from '../../store/port.ts'

const PAGE = 5_000

/** All that is known of the steps of a flow, in order, a page at a time. */
export async function readSteps(
  store: Pick<FlowStore, 'flowSteps'>,
  flowId: number,
): Promise<StepRecord[]> {
  const steps: StepRecord[] = []
  let after: StepKey | null = null
  for (;;) {
    const page: readonly StepRecord[] = await store.flowSteps({ flowId, after, limit: PAGE })
    for (const step of page) steps.push(step)
    const last = page.at(-1)
    if (!last || page.length < PAGE) return steps
    after = { step: last.step, item: last.item }
  }
}
