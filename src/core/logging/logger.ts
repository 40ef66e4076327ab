/** Log levels of a process. There is no level below `info`: successful requests are not logged. */
export const LOG_LEVELS = ['error', 'warn', 'info'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

export const LOG_FORMATS = ['text', 'json'] as const
export type LogFormat = (typeof LOG_FORMATS)[number]

export type LogValue = string | number | boolean | null | undefined

/**
 * Structured fields of a log record. Only names, numbers and ids: never a token, a payload, a secret or a value of an
 * SQL statement. `error` is formatted by `describeError`, which follows the same rule.
 */
export interface LogFields {
  readonly error?: unknown
  readonly [name: string]: unknown
}

export interface Logger {
  error(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
}

export const SILENT_LOGGER: Logger = { error: () => {}, warn: () => {}, info: () => {} }
