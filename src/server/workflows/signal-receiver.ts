import type { Signal } from '../../store/port.ts'
import type { NodeSignals } from '../signals/signals.ts'
import type { WorkflowAgenda } from './workflow-agenda.ts'

export interface SignalReceiverDeps {
  readonly signals: NodeSignals
}

/** Notes what the signals that this node has written require. */
export type ReceiveSignals = (signals: readonly Signal[]) => void

export function createSignalReceiver(
  { cache, toRead, toRelease, sweep, reread }: WorkflowAgenda,
  deps: SignalReceiverDeps,
): ReceiveSignals {
  const receive = (one: Signal): void => {
    if (one.kind === 'need') return void toRelease.add(one.runId)
    if (one.kind === 'cancel') return reread(one.workflowId)
    if (one.kind === 'followed') return deps.signals.followUpsDue()
    const workflow = cache.get(one.workflowId)
    if (workflow) {
      workflow.inbox.push(one)
      cache.markDirty(one.workflowId)
    } else if (!toRead.has(one.workflowId)) sweep.hurry()
  }

  return (signals) => {
    for (const one of signals) receive(one)
    if (signals.length > 0) deps.signals.workflowsDue()
  }
}
