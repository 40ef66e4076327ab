import { formatJson, formatText, type LogRecord } from '../../core/logging/format-record.ts'
import type { LogFields, LogFormat, Logger, LogLevel } from '../../core/logging/logger.ts'
import { createLogOutput } from './log-output.ts'

/** The output of `up`, `server` and `worker`. Records go to standard error in both formats. */
export interface ProcessLog extends Logger {
  /** The start message: text on standard output, or one record with the fields. */
  announce(text: string, record: { readonly message: string; readonly fields: LogFields }): void
  /** A sentence for the terminal, or one record. */
  notice(text: string, level?: LogLevel): void
  /**
   * An error that the process survives and that may repeat many times a second: see `REPEAT_MS`.
   */
  survived(error: unknown): void
}

/** An error is written at once; the number of its repetitions follows after this time. */
const REPEAT_MS = 10_000
/** With more distinct errors than this within `REPEAT_MS`, all of them are written. */
const MOST_REMEMBERED = 200

export function createProcessLog(options: {
  readonly format: LogFormat
  /** Wall time. */
  now(): number
  readonly out?: (text: string) => void
  readonly err?: (text: string) => void
  /** Calls back after `ms` milliseconds, if the process still runs then. */
  readonly later?: (ms: number, then: () => void) => void
}): ProcessLog {
  const { format, now } = options
  const later = options.later ?? ((ms, then) => void setTimeout(then, ms).unref())
  const render = (record: LogRecord) =>
    format === 'json' ? formatJson(record) : formatText(record)
  const droppedLine = (count: number) =>
    render({ time: now(), level: 'warn', message: 'log lines were lost', fields: { count } })
  const out = options.out ?? createLogOutput(1, { onDropped: () => '' })
  const err = options.err ?? createLogOutput(2, { onDropped: droppedLine })
  const write = (level: LogLevel, message: string, fields: LogFields = {}) =>
    err(render({ time: now(), level, message, fields }))
  const seen = new Map<string, { repeated: number }>()
  const writeFailure = (error: unknown, repeated?: number) =>
    write('error', 'a background task failed and will be tried again', { error, repeated })

  return {
    error: (message, fields) => write('error', message, fields),
    warn: (message, fields) => write('warn', message, fields),
    info: (message, fields) => write('info', message, fields),

    announce(text, { message, fields }) {
      if (format === 'json') write('info', message, fields)
      else out(text)
    },

    notice(text, level = 'info') {
      if (format === 'json') write(level, text)
      else err(`punctual: ${text}\n`)
    },

    survived(error) {
      const key = error instanceof Error ? `${error.name} ${error.message}` : String(error)
      const before = seen.get(key)
      if (before) {
        before.repeated += 1
        return
      }
      writeFailure(error)
      if (seen.size >= MOST_REMEMBERED) return
      const entry = { repeated: 0 }
      seen.set(key, entry)
      const close = () => {
        seen.delete(key)
        if (entry.repeated > 0) writeFailure(error, entry.repeated)
      }
      later(REPEAT_MS, close)
    },
  }
}

/**
 * Logs what Node would print as text: uncaught errors, which still end the process, and warnings of
 * the runtime.
 */
export function logFailuresOfProcess(log: Logger): void {
  process.on('uncaughtException', (error) => {
    log.error('the process ends: an error was not caught', { error })
    process.exit(1)
  })
  process.removeAllListeners('warning')
  process.on('warning', (error) => log.warn('a warning of the runtime', { error }))
}
