import { PROCESS_EXECUTORS } from '../../core/work/work.ts'
import type { ProcessSettings } from '../settings/process-settings.ts'

/**
 * Warns once, at the start of a worker whose commands run as root without the operator's
 * confirmation.
 */
export function warnOfRoot(
  { runAs, allowRoot }: ProcessSettings,
  executors: readonly string[] | undefined,
): string | undefined {
  const hasCommands = executors?.some((name) => PROCESS_EXECUTORS.some((one) => one === name))
  if (process.getuid?.() !== 0 || runAs !== undefined || allowRoot || hasCommands === false)
    return undefined
  return (
    'WARNING: this worker is root, and so is every command that names no user\n' +
    '  help:  start it as another user, or with --run-as USER; --allow-root confirms that root is intended'
  )
}
