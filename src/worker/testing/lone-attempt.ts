import type { Assignment, FinishedAttempt } from '../../core/wire/protocol.ts'
import { systemClock } from '../clock/system-clock.ts'
import type { AttemptHooks, RunningAttempt } from '../attempts/running-attempt.ts'

export function grant(run: string, extra: Partial<Assignment> = {}): Assignment {
  const defaults = { job: 'job', project: 'p', attempt: 1, weight: 1, timeoutMs: null, dueAt: 0 }
  return { run, fence: 1, ...defaults, work: null, task: null, input: null, ...extra }
}

/** Starts an attempt outside of any worker, and waits for its report. */
export function endOf(
  begin: (hooks: AttemptHooks) => RunningAttempt,
): Promise<FinishedAttempt | undefined> {
  return new Promise((resolve) => {
    const hooks: AttemptHooks = {
      clock: systemClock,
      onEnd: (_attempt, done) => resolve(done),
      onReturn() {},
      onIgnored() {},
      onLost() {},
    }
    begin(hooks).start()
  })
}
