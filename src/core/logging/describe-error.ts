/** An error as logged: enough to find the cause, without any user data. */
export interface DescribedError {
  readonly type: string
  readonly code?: string
  readonly message: string
  /** Stack frames only, and only for unexpected errors. */
  readonly stack?: readonly string[]
  readonly cause?: DescribedError
}

const MAX_MESSAGE = 500
const MAX_FRAMES = 12
const MAX_CAUSES = 4
/** Expected errors, for which a stack adds nothing. */
const FORESEEN = new Set([
  'PunctualError',
  'StoreError',
  'BlobError',
  'OutboundError',
  'Failure',
  'SqliteError',
  'QueryFailed',
])

export function describeError(error: unknown): DescribedError {
  return describe(error, quotesValues(error), 0)
}

function describe(error: unknown, withoutQuotes: boolean, depth: number): DescribedError {
  if (!(error instanceof Error)) {
    return { type: typeof error, message: clean(String(error), withoutQuotes) }
  }
  const code = (error as { code?: unknown }).code
  const isForeseen = FORESEEN.has(error.name)
  const stack = isForeseen || depth > 0 ? [] : framesOf(error)
  const hasCause = error.cause !== undefined && depth < MAX_CAUSES
  return {
    type: error.name,
    ...(typeof code === 'string' && { code: code.slice(0, 50) }),
    message: clean(error.message, withoutQuotes),
    ...(stack.length > 0 && { stack }),
    ...(hasCause && { cause: describe(error.cause, withoutQuotes, depth + 1) }),
  }
}

/**
 * Some messages quote the invalid value: those of `JSON.parse`, and those of PostgreSQL about data (class 22) and
 * constraints (23). An error that wraps one repeats its message.
 */
function quotesValues(error: unknown): boolean {
  let one = error
  for (let depth = 0; depth <= MAX_CAUSES && one instanceof Error; depth += 1) {
    const { code } = one as { code?: unknown }
    if (one instanceof SyntaxError) return true
    if (typeof code === 'string' && /^2[23][0-9A-Z]{3}$/.test(code)) return true
    one = one.cause
  }
  return false
}

function clean(message: string, withoutQuotes: boolean): string {
  const bounded = message.length > 4 * MAX_MESSAGE ? message.slice(0, 4 * MAX_MESSAGE) : message
  const text = redact(withoutQuotes ? bounded.replaceAll(QUOTED, '"…"') : bounded)
  return text.length > MAX_MESSAGE ? `${text.slice(0, MAX_MESSAGE).toWellFormed()}…` : text
}

/** Matches from the first quote to the last: a quoted value may contain quotes. */
const QUOTED = /"[^]*"|'[^]*'|\([^]*\)=\([^]*\)/g
const PASSWORD_IN_URL = /(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@]*@/gi
const BEARER = /\b(bearer|basic)\s+[\w.~+/=-]+/gi
const TOKEN = /\b(pun|punctual)_[\w-]{16,}/g

export function redact(text: string): string {
  return text
    .replaceAll(PASSWORD_IN_URL, '$1***@')
    .replaceAll(BEARER, '$1 ***')
    .replaceAll(TOKEN, '$1_***')
}

function framesOf({ stack = '' }: Error): string[] {
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line))
  return frames.slice(0, MAX_FRAMES).map((line) => line.trim())
}
