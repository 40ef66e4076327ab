import type { Names } from '../../expression/check.ts'
import type { Json } from '../../expression/expression.ts'
import { fill } from '../../expression/fill-template.ts'
import { asText } from '../../expression/functions.ts'
import type { RunScope } from '../../expression/evaluate.ts'
import { readTemplate } from '../../expression/read-template.ts'
import { PunctualError } from '../../errors.ts'
import { LIMITS } from '../../limits.ts'
import type { ConcurrencyInput, GateInput } from '../definition.ts'
import type { Gate } from '../workflow.ts'

/** The key of the job's own gate. */
export function jobGateKey(job: string): string {
  return `job:${job}`
}

/** The gates of a workflow. By default one wave runs at a time. */
export function readGates(
  concurrency: ConcurrencyInput | undefined,
  job: string,
  names: Names,
  at: string,
): readonly Gate[] {
  if (concurrency === 'none') return []
  const inputs = [concurrency ?? { limit: 1 }].flat() as readonly GateInput[]
  return inputs.map(({ key = jobGateKey(job), limit }, nth) => {
    const field = Array.isArray(concurrency) ? `${at}.${nth}.key` : `${at}.key`
    return { key: readTemplate(key, names, field), limit }
  })
}

/** The gates of one run, with its input. */
export function gatesOf(gates: readonly Gate[], input: Json, run: RunScope) {
  const step = () => ({ state: '', output: null })
  const found = gates.map(({ key, limit }) => ({
    key: asText(fill(key, { input, run, step })),
    limit,
  }))
  for (const { key } of found) {
    if (key.length > 0 && key.length <= LIMITS.keyLength) continue
    const message = `a key of concurrency has 1 to ${LIMITS.keyLength} characters, not ${key.length}`
    throw new PunctualError('invalid_field', message, { field: 'concurrency' })
  }
  return found
}
