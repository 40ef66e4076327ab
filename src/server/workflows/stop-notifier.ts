import type { Clock } from '../../core/clock.ts'
import type { CancelCommand, StepKey } from '../../store/port.ts'
import type { LoadedWorkflow } from './loaded-workflow.ts'
import { STOP_REMINDER_MS } from './prepare-transition.ts'

/** Runs that are cancelled before other work gets its turn. */
const AT_ONCE = 1_000

export interface StopNotifierDeps {
  cancel(command: CancelCommand): Promise<unknown>
  readonly clock: Pick<Clock, 'mono'>
  onError(error: unknown): void
}

/** Sends stop requests to the running steps of workflows that are being stopped. */
export interface StopNotifier {
  /** Adds the workflow if it is being stopped. */
  note(workflow: LoadedWorkflow): void
  /** Sends some requests; they are repeated after a while for runs that still go on. */
  notifySome(): Promise<void>
  readonly isEmpty: boolean
}

export function createStopNotifier({ cancel, clock, onError }: StopNotifierDeps): StopNotifier {
  const pending = new Map<LoadedWorkflow, Iterator<StepKey>>()
  return {
    note(workflow) {
      if (!workflow.stop || pending.has(workflow)) return
      const mono = clock.mono()
      if (workflow.stopNotifiedMono !== null && mono - workflow.stopNotifiedMono < STOP_REMINDER_MS)
        return
      workflow.stopNotifiedMono = mono
      pending.set(workflow, workflow.progress.unwanted()[Symbol.iterator]())
    },
    async notifySome() {
      const cancellations: Promise<unknown>[] = []
      for (const [workflow, keys] of pending) {
        const { projectId } = workflow.record
        for (;;) {
          if (cancellations.length === AT_ONCE)
            return void (await Promise.all(cancellations).catch(onError))
          const { done, value } = keys.next()
          if (done) break
          const runId = workflow.runs.runOf(value)
          if (runId !== null) cancellations.push(cancel({ runId, projectId }))
        }
        pending.delete(workflow)
      }
      await Promise.all(cancellations).catch(onError)
    },
    get isEmpty() {
      return pending.size === 0
    },
  }
}
