import { PROCESS_EXECUTORS } from '../core/work/work.ts'
import type { ProcessSettings } from './process-settings.ts'

/** Said once at the start of a worker whose commands run as root though nobody said that they shall. */
export function warnOfRoot(
  { runAs, allowRoot }: ProcessSettings,
  executors: readonly string[] | undefined,
): string {
  const hasCommands = executors?.some((name) => PROCESS_EXECUTORS.some((one) => one === name))
  if (process.getuid?.() !== 0 || runAs !== undefined || allowRoot || hasCommands === false)
    return ''
  return (
    'punctual: WARNING: this worker is root, and so is every command that names no user\n' +
    '  help:  start it as somebody else, or with --run-as USER; --allow-root says that it is meant\n'
  )
}
