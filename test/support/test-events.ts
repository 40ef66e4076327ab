import { inspect } from 'node:util'

type TestError = Error & { failureType?: string }

/** The part of node:test's event stream that reports need. */
export interface TestEvent {
  type: string
  data: {
    name?: string
    file?: string
    nesting?: number
    message?: string
    skip?: string | boolean
    todo?: string | boolean
    details?: { type?: string; error?: TestError }
  }
}

export interface FileResult {
  file: string
  passed: number
  failures: { name: string; detail: string }[]
  skips: { name: string; reason: string }[]
  /** The suites and tests that contain the current event, outermost first. */
  suites: string[]
  /** Tests that began and have not ended: suspects when a file has to be stopped. */
  open: Set<string>
  /** The output of the file; shown only when something failed. */
  output: string
  durationMs: number
}

export function newResult(file: string): FileResult {
  return {
    file,
    passed: 0,
    failures: [],
    skips: [],
    suites: [],
    open: new Set(),
    output: '',
    durationMs: 0,
  }
}

/**
 * Adds one event to a file's result. A suite counts only if it fails by itself (a hook threw); a parent of
 * failed subtests is not another failure.
 */
export function addEvent(result: FileResult, { type, data }: TestEvent): void {
  if (type === 'test:stdout' || type === 'test:stderr') result.output += data.message ?? ''
  if (type === 'test:start') result.suites.splice(data.nesting ?? 0, Infinity, data.name ?? '')
  if (type === 'test:dequeue' && data.name !== data.file) result.open.add(data.name ?? '')
  if (type === 'test:complete') result.open.delete(data.name ?? '')
  if (type !== 'test:pass' && type !== 'test:fail') return
  const name = [...result.suites.slice(0, data.nesting ?? 0), data.name].join(' › ')
  const reason = skipReason(data)
  if (reason !== undefined) {
    result.skips.push({ name, reason })
  } else if (type === 'test:fail') {
    const error = data.details?.error
    if (error?.failureType !== 'subtestsFailed') {
      result.failures.push({ name, detail: describe(error, result.open) })
    }
  } else if (data.name === data.file) {
    // node:test reports a file without any tests as one passing test.
    result.failures.push({ name, detail: 'this file contains no tests' })
  } else if (data.details?.type !== 'suite') {
    result.passed++
  }
}

function skipReason({ skip, todo }: TestEvent['data']): string | undefined {
  if (skip !== undefined && skip !== false) return skip === true ? '' : skip
  if (todo !== undefined && todo !== false) return todo === true ? 'to do' : `to do: ${todo}`
  return undefined
}

function describe(error: TestError | undefined, open: Set<string>): string {
  if (error?.failureType === 'cancelledByParent') return 'did not run: its suite failed first'
  if (error?.failureType === 'testAborted') {
    const left = [...open].join(', ') || 'no test, so a timer, socket or process of theirs'
    return `stopped by the runner (too slow, or interrupted); still open: ${left}`
  }
  const cause = error?.cause ?? error
  // node:test says only "test failed" when a file crashed; the reason is in the file's output.
  return typeof cause === 'string' ? cause : withoutInternals(inspect(cause))
}

function withoutInternals(stack: string): string {
  return stack.replaceAll(/\n +at [^\n]*?node:(internal|async_hooks)[^\n]*?(?=( \{)?(\n|$))/g, '')
}
