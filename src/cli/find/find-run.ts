import type { WirePage } from '../../core/wire/views.ts'
import type { WireRun } from '../../core/wire/runs.ts'
import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'
import type { ServerCalls } from '../server/server-calls.ts'

const FULL = /^run_[0-9a-z]{11}$/i
const PAGES = 4

/**
 * A run as people name it: an id, the end of one, `@last`, `@last-failed` or `<job>@last`. The last one is
 * never a step: who has just started a workflow means that.
 */
export async function findRun(calls: ServerCalls, text: string): Promise<string> {
  if (FULL.test(text)) return text
  const [, job, which] = /^([A-Za-z0-9][\w.-]*)?@(last|last-failed)$/.exec(text) ?? []
  if (which !== undefined) return latest(calls, job, which === 'last-failed')
  if (!/^(?:run_)?[0-9a-z]{3,11}$/i.test(text)) throw notARun(text)
  return bySuffix(calls, text.replace(/^run_/i, '').toLowerCase())
}

async function latest(calls: ServerCalls, job: string | undefined, failed: boolean) {
  const query = new URLSearchParams({ limit: '1', q: 'steps:no' })
  if (job !== undefined) query.set('job', job)
  if (failed) query.set('state', 'failed')
  const { data } = await calls.call<WirePage<WireRun>>('GET', `/v1/runs?${query.toString()}`)
  if (data[0]) return data[0].id
  const what = `${failed ? 'failed ' : ''}run${job === undefined ? '' : ` of ${job}`}`
  throw new Failure(`there is no ${what} yet`, { exitCode: EXIT.notFound })
}

async function bySuffix(calls: ServerCalls, suffix: string): Promise<string> {
  const found: string[] = []
  let cursor = ''
  for (let page = 0; page < PAGES; page += 1) {
    const path = `/v1/runs?limit=500${cursor && `&cursor=${cursor}`}`
    const { data, next_cursor } = await calls.call<WirePage<WireRun>>('GET', path)
    found.push(...data.map(({ id }) => id).filter((id) => id.endsWith(suffix)))
    if (next_cursor === null) break
    cursor = next_cursor
  }
  const [first, ...others] = found
  if (first === undefined) {
    throw new Failure(`no recent run ends with ${suffix}`, {
      exitCode: EXIT.notFound,
      hint: 'Older runs are found by their whole id.',
    })
  }
  if (others.length === 0) return first
  throw new Failure(`${found.length} runs end with ${suffix}`, {
    exitCode: EXIT.usage,
    hint: `Type more of it: ${found.slice(0, 5).join(', ')}.`,
  })
}

function notARun(text: string): Failure {
  return new Failure(`"${text}" does not name a run`, {
    exitCode: EXIT.usage,
    hint: 'Give an id, the end of one, @last, @last-failed or <job>@last.',
  })
}
