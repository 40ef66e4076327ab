import type { WireJob } from '../../core/wire/views.ts'
import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'
import { jobPath } from '../find/find-schedule.ts'
import { type Declared, isByField, readFlags, readInput } from './read-input.ts'
import type { ServerCalls } from '../server/server-calls.ts'

/** The words before the first flag, and the rest: `etl --date 2026-01-31`. */
export function splitFlags(words: readonly string[]): { words: string[]; flags: string[] } {
  const at = words.findIndex((word) => word.startsWith('-'))
  if (at < 0) return { words: [...words], flags: [] }
  return { words: words.slice(0, at), flags: words.slice(at) }
}

/** What a job gets as its input, by `-i` and by the flags that its parameters are. */
export async function inputOfJob(
  calls: ServerCalls,
  job: string | undefined,
  { texts, flags }: { readonly texts: readonly string[]; readonly flags: readonly string[] },
): Promise<{ input?: unknown }> {
  if (flags.length > 0 && job === undefined) {
    throw new Failure('name the job before its flags', { exitCode: EXIT.usage })
  }
  const isDeclared = flags.length > 0 || (job !== undefined && isByField(texts))
  const declared = isDeclared ? await declaredBy(calls, job as string) : {}
  if (texts.length === 0 && flags.length === 0) return {}
  const given = readInput(texts, declared)
  if (flags.length === 0) return { input: given }
  return { input: { ...(given as object | undefined), ...readFlags(flags, declared) } }
}

/** The parameters of a job, or of the job of a schedule. */
async function declaredBy(calls: ServerCalls, job: string): Promise<Declared> {
  const [name = job] = job.split('/')
  const { definition } = await calls.call<WireJob>('GET', jobPath(name))
  return definition.input ?? {}
}
