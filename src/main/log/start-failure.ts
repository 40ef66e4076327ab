import { explainFailure } from '../../cli/errors/report-error.ts'
import { createProcessLog } from './process-log.ts'

/**
 * Whether errors before the settings are read go to a JSON log, judging by arguments and variables
 * alone.
 */
export function wantsJsonLog(argv: readonly string[], env: NodeJS.ProcessEnv): boolean {
  const flag = argv.findLastIndex((word) => /^--log-format(=|$)/.test(word))
  const word = argv[flag] ?? ''
  const given = word.includes('=') ? word.slice(word.indexOf('=') + 1) : argv[flag + 1]
  return (flag < 0 ? env['PUNCTUAL_LOG_FORMAT'] : given) === 'json'
}

/** Logs a failed start as one record. Returns the exit code. */
export function logStartFailure(error: unknown, { now }: { now(): number }): number {
  const { exitCode, hint } = explainFailure(error)
  createProcessLog({ format: 'json', now }).error('the process did not start', { error, hint })
  return exitCode
}
