import type { WireJob } from '../../core/job/job-views.ts'
import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'
import { jobPath } from '../find/find-job.ts'
import { type Declared, isByField, readFlags, readInput } from './read-input.ts'
import type { ServerCalls } from '../server/server-calls.ts'

/** Splits words before the first flag from the rest: `etl --date 2026-01-31`. */
export function splitFlags(words: readonly string[]): { words: string[]; flags: string[] } {
  const at = words.findIndex((word) => word.startsWith('-'))
  if (at < 0) return { words: [...words], flags: [] }
  return { words: words.slice(0, at), flags: words.slice(at) }
}

/** The input of a job from `-i` and from the flags of its parameters. */
export async function inputOfJob(
  calls: ServerCalls,
  job: string | undefined,
  { texts, flags }: { readonly texts: readonly string[]; readonly flags: readonly string[] },
): Promise<{ input?: unknown }> {
  if (flags.length > 0 && job === undefined) {
    throw new Failure('name the job before its flags', { exitCode: EXIT.usage })
  }
  const isDeclared = flags.length > 0 || (job !== undefined && isByField(texts))
  const declared = isDeclared ? await declaredBy(calls, job as string, flags.length > 0) : {}
  if (texts.length === 0 && flags.length === 0) return {}
  const given = readInput(texts, declared)
  if (flags.length === 0) return { input: given }
  return { input: { ...(given as object | undefined), ...readFlags(flags, declared) } }
}

/** The declared parameters of a job, or of the job of a schedule. */
async function declaredBy(calls: ServerCalls, job: string, isRequired: boolean): Promise<Declared> {
  const [name = job] = job.split('/')
  try {
    const { definition } = await calls.call<WireJob>('GET', jobPath(name))
    return definition.input ?? {}
  } catch (error) {
    // A handler declares no parameters. Whether the name is a handler is checked at submission.
    const isUnknown = error instanceof Failure && error.code === 'job_not_found'
    if (isUnknown && !isRequired) return {}
    throw error
  }
}
