import { PunctualError } from '../errors.ts'
import type { NamedRetryScope } from '../work/workflow-work.ts'

/** Selections of steps for the retry of a workflow. */
export const RETRY_ONLY = ['failed'] as const

/**
 * Options for running a finished run again; without any, everything runs as before. For a workflow, `only`, `from`
 * and `skip` keep the other steps. `input` and `version` change the new run and exclude these: then everything runs
 * again.
 */
export interface RetryOptions {
  readonly only?: (typeof RETRY_ONLY)[number] | undefined
  /** These steps, and all steps that depend on them, run again. */
  readonly from?: string | readonly string[] | undefined
  /** These steps count as done. */
  readonly skip?: string | readonly string[] | undefined
  readonly input?: unknown
  readonly version?: number | undefined
}

/** The steps of a workflow that run again; undefined for all. Throws if the options contradict each other. */
export function readRetryScope({
  only,
  from,
  skip,
  input,
  version,
}: RetryOptions): NamedRetryScope | undefined {
  if (only === undefined && from === undefined && skip === undefined) return undefined
  const other = input !== undefined ? 'input' : version !== undefined ? 'version' : undefined
  if (other !== undefined) {
    const message = `${other} changes the whole run: it cannot be used with only, from or skip`
    throw new PunctualError('invalid_field', message, { field: other })
  }
  return {
    ...(only === undefined ? {} : { failed: true }),
    ...(from === undefined ? {} : { from: [from].flat() }),
    ...(skip === undefined ? {} : { skip: [skip].flat() }),
  }
}
