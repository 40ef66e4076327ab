import type { Assignment, Done } from '../../core/wire/protocol.ts'
import { systemClock } from '../clock/system-clock.ts'
import type { AttemptHooks, UnderWay } from '../attempts/running-attempt.ts'

export function grant(run: string, extra: Partial<Assignment> = {}): Assignment {
  const usual = { job: 'job', project: 'p', attempt: 1, weight: 1, timeoutMs: null, dueAt: 0 }
  return { run, fence: 1, ...usual, work: null, task: null, input: null, ...extra }
}

/** Starts an attempt that no worker knows of, and waits for what it would report. */
export function endOf(begin: (hooks: AttemptHooks) => UnderWay): Promise<Done | undefined> {
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
