import type { SubmitAnswer } from '../../core/wire/protocol.ts'
import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'
import { resolveSchedule, schedulePath } from '../find/find-schedule.ts'
import type { ServerCalls } from '../server/server-calls.ts'

/** Starts a run with the schedule's input now, without an effect on the schedule. */
export async function runSchedule(
  calls: ServerCalls,
  text: string,
  wishes: { readonly idempotency_key?: string },
): Promise<string> {
  const { idempotency_key: key, ...others } = wishes
  const [extra] = Object.keys(others)
  if (extra !== undefined) {
    throw new Failure(`${text} has its own settings: ${extra} cannot be combined with it`, {
      exitCode: EXIT.usage,
      hint: `To choose them, run the job: punctual run ${text.split('/')[0]}`,
    })
  }
  const path = `${schedulePath(await resolveSchedule(calls, text))}/run`
  const headers = key === undefined ? {} : { 'idempotency-key': key }
  const { id } = await calls.call<SubmitAnswer>('POST', path, undefined, { headers })
  calls.lastRun.remember(id)
  return id
}
