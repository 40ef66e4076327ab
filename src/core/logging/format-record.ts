import { describeError, type DescribedError, redact } from './describe-error.ts'
import type { LogFields, LogLevel } from './logger.ts'

export interface LogRecord {
  /** Wall time in milliseconds. */
  readonly time: number
  readonly level: LogLevel
  readonly message: string
  readonly fields: LogFields
}

/** One JSON object per line, with `time`, `level` and `msg` first. */
export function formatJson({ time, level, message, fields }: LogRecord): string {
  const { error, ...rest } = fields
  const record = {
    time: new Date(time).toISOString(),
    level,
    msg: redact(message),
    ...clean(rest),
    ...(error !== undefined && { error: describeError(error) }),
  }
  return `${JSON.stringify(record)}\n`
}

/** One readable line; the stack frames of an unexpected error follow, indented. */
export function formatText({ time, level, message, fields }: LogRecord): string {
  const { error, ...rest } = fields
  const described = error === undefined ? undefined : describeError(error)
  const what = described ? `${redact(message)}: ${chain(described)}` : redact(message)
  const pairs = Object.entries(clean(rest)).map(([name, value]) => `${name}=${String(value)}`)
  const more = pairs.length > 0 ? ` (${pairs.join(' ')})` : ''
  const line = `punctual: ${new Date(time).toISOString()} ${level}: ${what}${more}`
  const frames = described?.stack ?? []
  return [oneLine(line), ...frames.map((frame) => `    ${oneLine(frame)}`), ''].join('\n')
}

/** Each distinct cause once: an error that wraps another often repeats its message. */
function chain(error: DescribedError): string {
  const { cause } = error
  const code =
    error.code === undefined || error.message.includes(error.code) ? '' : ` [${error.code}]`
  const own = `${error.message}${code}`
  if (!cause || own.includes(cause.message)) return own
  return `${own}: ${chain(cause)}`
}

function clean(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const present = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(
    present.map(([name, value]) => [name, typeof value === 'string' ? redact(value) : value]),
  )
}

/** Removes line breaks, so that a message cannot look like two log lines. */
function oneLine(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what is removed here
  return text.replaceAll(/[\u0000-\u001F\u007F-\u009F\u2028\u2029]+/g, ' ')
}
