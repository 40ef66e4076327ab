import { WANTED_OUTCOMES, type WantedOutcome } from '../../core/run/needs.ts'
import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'
import { resolveRun } from '../find/find-run.ts'
import type { ServerCalls } from '../server/server-calls.ts'

/** `--after @last` or `--after @last:any`: the runs that must end first, and with which outcome. */
export async function readAfter(
  calls: ServerCalls,
  texts: readonly string[] = [],
): Promise<{ after?: { run: string; on: WantedOutcome }[] }> {
  if (texts.length === 0) return {}
  const after = texts.map(async (text) => {
    const [run = '', on = 'ok'] = text.split(':')
    if (!isWanted(on)) {
      const message = `--after ends with :${on}, and not with one of :${WANTED_OUTCOMES.join(', :')}`
      throw new Failure(message, { exitCode: EXIT.usage })
    }
    return { run: await resolveRun(calls, run), on }
  })
  return { after: await Promise.all(after) }
}

function isWanted(text: string): text is WantedOutcome {
  return WANTED_OUTCOMES.some((one) => one === text)
}
