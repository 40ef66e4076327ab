import { NAME } from '../../core/limits.ts'
import { nearestName } from '../../core/text/nearest.ts'
import type { WirePage } from '../../core/wire/views.ts'
import type { WireJob } from '../../core/job/job-views.ts'
import type { WireRun } from '../../core/wire/runs.ts'
import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'
import { fetchJob } from './find-job.ts'
import type { ServerCalls } from '../server/server-calls.ts'

const FULL = /^run_[0-9a-z]{11}$/i
const SUFFIX = /^(?:run_)?[0-9a-z]{3,11}$/i
/** The id of a run in the legacy protocols. */
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const PAGES = 4

/**
 * Finds a run by its id, the end of its id, `@last`, `@last-failed` or `<job>@last`. Commands that
 * only read also accept the name of a job, for its last run (`orJob`); a command that changes
 * something does not, because there the name could mean all runs of the job. Only an id can name a
 * step of a workflow.
 */
export async function resolveRun(
  calls: ServerCalls,
  text: string,
  { orJob = false }: { orJob?: boolean } = {},
): Promise<string> {
  if (isRunId(text)) return text
  if (UUID.test(text)) return (await calls.call<WireRun>('GET', `/v1/runs/${text}`)).id
  const [, job, which] = /^([A-Za-z0-9][\w.-]*)?@(last|last-failed)$/.exec(text) ?? []
  if (which === 'last' && job === undefined) return ownLast(calls)
  if (which !== undefined) return requireLatest(calls, job, which === 'last-failed')
  const ofJob = NAME.test(text) ? await latest(calls, text, false) : undefined
  if (ofJob !== undefined && orJob) return ofJob
  const found = SUFFIX.test(text) ? await bySuffix(calls, text) : undefined
  if (found !== undefined) return found
  if (ofJob !== undefined) throw namesAJob(text)
  if (orJob && (await fetchJob(calls, text))) throw noRun(text, false)
  if (orJob && NAME.test(text)) throw await neither(calls, text)
  throw SUFFIX.test(text) ? noSuchEnd(text) : notARun(text)
}

/** Whether the text is a whole id, which needs no search. */
export function isRunId(text: string): boolean {
  return FULL.test(text)
}

/** The run that this user submitted last; if the server has no such run, the newest run. */
async function ownLast(calls: ServerCalls): Promise<string> {
  const id = calls.lastRun.recall()
  if (id === undefined) return requireLatest(calls, undefined, false)
  try {
    return (await calls.call<WireRun>('GET', `/v1/runs/${id}`)).id
  } catch (error) {
    if (!isNotFound(error)) throw error
    return requireLatest(calls, undefined, false)
  }
}

async function requireLatest(calls: ServerCalls, job: string | undefined, failed: boolean) {
  const id = await latest(calls, job, failed)
  if (id !== undefined) return id
  throw noRun(job, failed)
}

async function latest(
  calls: ServerCalls,
  job: string | undefined,
  failed: boolean,
): Promise<string | undefined> {
  const query = new URLSearchParams({ limit: '1', q: 'steps:no' })
  if (job !== undefined) query.set('job', job)
  if (failed) query.set('state', 'failed')
  // The server examines a bounded number of runs per page, so a page may be empty without being the
  // last.
  for (;;) {
    const path = `/v1/runs?${query.toString()}`
    const { data, next_cursor } = await calls.call<WirePage<WireRun>>('GET', path)
    if (data[0]) return data[0].id
    if (next_cursor === null) return undefined
    query.set('cursor', next_cursor)
  }
}

export function isNotFound(error: unknown): boolean {
  return error instanceof Failure && error.exitCode === EXIT.notFound
}

async function bySuffix(calls: ServerCalls, text: string): Promise<string | undefined> {
  const suffix = endOf(text)
  const found: string[] = []
  let cursor = ''
  for (let page = 0; page < PAGES; page += 1) {
    const path = `/v1/runs?limit=500${cursor && `&cursor=${cursor}`}`
    const { data, next_cursor } = await calls.call<WirePage<WireRun>>('GET', path)
    found.push(...data.map(({ id }) => id).filter((id) => id.endsWith(suffix)))
    if (next_cursor === null) break
    cursor = next_cursor
  }
  if (found.length <= 1) return found[0]
  throw new Failure(`${found.length} runs end with ${suffix}`, {
    exitCode: EXIT.usage,
    hint: `Type more of it: ${found.slice(0, 5).join(', ')}.`,
  })
}

function endOf(text: string): string {
  return text.replace(/^run_/i, '').toLowerCase()
}

function noRun(job: string | undefined, failed: boolean): Failure {
  const what = `${failed ? 'failed ' : ''}run${job === undefined ? '' : ` of ${job}`}`
  return new Failure(`there is no ${what} yet`, {
    exitCode: EXIT.notFound,
    ...(job === undefined || failed ? {} : { next: `punctual run ${job}` }),
  })
}

function noSuchEnd(text: string): Failure {
  return new Failure(`no recent run ends with ${endOf(text)}`, {
    exitCode: EXIT.notFound,
    hint: 'Older runs are found by their whole id: punctual runs',
  })
}

function namesAJob(text: string): Failure {
  return new Failure(`"${text}" is a job and not a run`, {
    exitCode: EXIT.usage,
    hint: `Its last run is ${text}@last.`,
  })
}

function notARun(text: string): Failure {
  return new Failure(`"${text}" does not name a run`, {
    exitCode: EXIT.usage,
    hint: 'Give an id, the end of one, @last, @last-failed or <job>@last.',
  })
}

async function neither(calls: ServerCalls, text: string): Promise<Failure> {
  const { data } = await calls.call<WirePage<WireJob>>('GET', '/v1/jobs?limit=500')
  const names = data.map(({ name }) => name)
  const meant = nearestName(text, names)
  const lists = 'Jobs are listed by punctual ls, runs by punctual runs.'
  return new Failure(`no job is called "${text}", and no recent run ends with it`, {
    exitCode: EXIT.notFound,
    hint: meant === undefined ? lists : `Did you mean ${meant}?`,
  })
}
