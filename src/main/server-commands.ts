import type { Command } from 'commander'
import type { Cli } from '../cli/commands/cli.ts'
import { addExecutorFlags, type ExecutorFlags } from './executor-flags.ts'
import type { GivenSettings } from './settings.ts'
import type { WorkerFlags } from './work.ts'

/**
 * up, server and worker: the commands that stay. What they need is loaded when they are called: the
 * others should not wait for a server to be read that they do not start.
 */
export function addStarters(program: Command, cli: Cli, version: string): void {
  const { terminal } = cli
  const repeat = (value: string, before: string[] = []) => [...before, value]

  const start = async (flags: GivenSettings & ExecutorFlags, withWorker: boolean) => {
    const { readSettings } = await import('./settings.ts')
    const settings = readSettings(flags, process.env)
    const { serve } = await import('./serve.ts')
    cli.exitWith(await serve(settings, { terminal, version, withWorker, executors: flags }))
  }
  const server = (name: string, description: string) =>
    program
      .command(name)
      .description(description)
      .option('--listen <host:port>', 'where to listen; 127.0.0.1:7420 if absent')
      .option('--port <port>', 'the port alone')
      .option('--data <directory>', 'where to keep data; ./.punctual if absent')
      .option('--store <url>', 'sqlite:<file> or postgres://…')
      .option('--blobs <place>', 'fs or store: where large inputs and results are kept')
      .option('--inline-limit <size>', 'what is larger than this is kept there; 64KiB if absent')
      .option('--plain-ttl <time>', 'how long a plain worker may be silent; 20s if absent')
      .option('--open', 'let callers on this machine in without a token')
      .option('--allow-host <name>', 'another name it is called by; may be repeated', repeat)
      .option(
        '--allow-address <address>',
        'where webhooks may lead besides the internet; may be repeated',
        repeat,
      )
      .option('--tls-cert <file>', 'serve HTTPS with this certificate')
      .option('--tls-key <file>', 'and this key')
      .option('--secret-key <file>', 'keys of secrets; <data>/secret-key if absent')

  const ofProcesses = (command: Command) =>
    command
      .option('--limit <name=value>', 'what each command may take: memory=1GiB; repeat', repeat)
      .option('--allow-user <names>', 'users that commands may ask to run as', repeat)
      .option('--run-as <user>', 'whom commands run as that do not ask')
      .option('--allow-root', 'commands may run as root: no warning')
      .option('--launcher <kind>', 'auto, native or node: what starts processes')
      .option('--containment <level>', 'auto, pidns, cgroup or group: what holds them')

  addExecutorFlags(
    ofProcesses(server('up', 'start everything here: server, scheduler and a worker')),
  )
    .option('--slots <count>', 'how much may run at once; 8 if absent')
    .action((flags: GivenSettings & ExecutorFlags) => start(flags, true))

  server('server', 'start a server without a worker').action((flags: GivenSettings) =>
    start(flags, false),
  )

  const pairs = (text: string, before: Record<string, string> = {}) => {
    const at = text.indexOf('=')
    return at < 0
      ? { ...before, [text]: 'true' }
      : { ...before, [text.slice(0, at)]: text.slice(at + 1) }
  }
  addExecutorFlags(ofProcesses(program.command('worker')))
    .description('take work from a server and run it here')
    .option(
      '--allow-address <address>',
      'an inner address requests may go to; may be repeated',
      repeat,
    )
    .option('--name <name>', 'how it shows up in lists')
    .option('--queue <name>', 'a queue to serve, best first; may be repeated', repeat)
    .option('--label <name=value>', 'what it can do; may be repeated', pairs)
    .option('--slots <count>', 'how much may run at once', '8')
    .option('--launchers <count>', 'processes that start the processes', '1')
    .option('--pass-env <name>', 'a variable its processes may see; may be repeated', repeat)
    .action(async (flags: WorkerFlags, command: Command) => {
      const { work } = await import('./work.ts')
      cli.exitWith(await work(flags, command, terminal))
    })
}
