import type { FastifyBaseLogger } from 'fastify'
import type { LogFields, Logger } from '../../../core/logging/logger.ts'

/**
 * Adapts our logger to the interface of Fastify. Requests get no logger of their own, because that
 * costs time for each.
 */
export function frameworkLogger(log: Logger): FastifyBaseLogger {
  const write = (level: 'error' | 'warn') => (given: unknown, message?: unknown) => {
    const { text, fields } = read(given, message)
    log[level](text, fields)
  }
  const nothing = () => {}
  const logger = {
    level: 'warn',
    fatal: write('error'),
    error: write('error'),
    warn: write('warn'),
    info: nothing,
    debug: nothing,
    trace: nothing,
    silent: nothing,
    child: () => logger,
  } as unknown as FastifyBaseLogger
  return logger
}

/** Fastify logs `({ err, req, res }, text)`; only the error is logged here. */
function read(given: unknown, message: unknown): { text: string; fields: LogFields } {
  if (typeof given === 'string') return { text: given, fields: {} }
  const { err, fields } = given as { err?: unknown; fields?: LogFields }
  const error = given instanceof Error ? given : err
  const text = typeof message === 'string' ? message : 'the HTTP server failed'
  return { text, fields: { ...fields, ...(error !== undefined && { error }) } }
}
