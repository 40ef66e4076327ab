import type { Command } from 'commander'
import { EXECUTORS } from '../../core/work/work.ts'

/** The flags of a worker for requests and containers. */
export interface ExecutorFlags {
  readonly executors?: string | undefined
  readonly allowAddress?: readonly string[] | undefined
  readonly containerEngine?: string | undefined
  readonly engineArg?: readonly string[] | undefined
  readonly containerArg?: readonly string[] | undefined
  readonly allowMount?: readonly string[] | undefined
}

export function addExecutorFlags(command: Command): Command {
  const repeat = (value: string, before: string[] = []) => [...before, value]
  return command
    .option('--executors <names>', `of ${EXECUTORS.join(', ')} only these, with commas`)
    .option('--container-engine <program>', 'podman or docker; the first that works if absent')
    .option(
      '--engine-arg <word>',
      'an argument of the engine, before its command; may be repeated',
      repeat,
    )
    .option('--container-arg <word>', 'an argument for every container; may be repeated', repeat)
    .option(
      '--allow-mount <path[:ro]>',
      'a directory that containers may mount; may be repeated',
      repeat,
    )
}
