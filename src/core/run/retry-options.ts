import { PunctualError } from '../errors.ts'
import type { RetryNames } from '../work/workflow-work.ts'

/** What can be done again of a workflow without doing everything again. */
export const RETRY_ONLY = ['failed'] as const

/**
 * What of a finished run is done again, and with what; nothing said, everything as it was. Of a
 * workflow `only`, `from` and `skip` keep what need not be done again. `input` and `version` are for
 * other runs than that one: everything is done again, with what is different.
 */
export interface RetryHow {
  readonly only?: (typeof RETRY_ONLY)[number] | undefined
  /** These steps and all that depends on them, whatever became of them. */
  readonly from?: string | readonly string[] | undefined
  /** These count as done. */
  readonly skip?: string | readonly string[] | undefined
  readonly input?: unknown
  readonly version?: number | undefined
}

/** Which steps of a workflow go again; undefined for all of them. Throws what contradicts itself. */
export function readRetryNames({
  only,
  from,
  skip,
  input,
  version,
}: RetryHow): RetryNames | undefined {
  if (only === undefined && from === undefined && skip === undefined) return undefined
  const other = input !== undefined ? 'input' : version !== undefined ? 'version' : undefined
  if (other !== undefined) {
    const message = `${other} changes the whole run: it cannot stand beside only, from or skip`
    throw new PunctualError('invalid_field', message, { field: other })
  }
  return {
    ...(only === undefined ? {} : { failed: true }),
    ...(from === undefined ? {} : { from: [from].flat() }),
    ...(skip === undefined ? {} : { skip: [skip].flat() }),
  }
}
