import type { SubmitAnswer } from '../../core/wire/protocol.ts'
import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'
import { findSchedule, schedulePath } from '../find/find-schedule.ts'
import type { ServerCalls } from '../server/server-calls.ts'

/** A run like those a schedule makes, now, with its input; the schedule does not notice. */
export async function runSchedule(
  calls: ServerCalls,
  text: string,
  wishes: { readonly idempotency_key?: string },
): Promise<string> {
  const { idempotency_key: key, ...others } = wishes
  const [extra] = Object.keys(others)
  if (extra !== undefined) {
    throw new Failure(`what ${text} runs with is its own to say: ${extra} does not go with it`, {
      exitCode: EXIT.usage,
      hint: `To say it yourself, run the job: punctual run ${text.split('/')[0]}`,
    })
  }
  const path = `${schedulePath(await findSchedule(calls, text))}/run`
  const headers = key === undefined ? {} : { 'idempotency-key': key }
  return (await calls.call<SubmitAnswer>('POST', path, undefined, { headers })).id
}
