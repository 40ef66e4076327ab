import type { Command } from 'commander'
import type { Cli } from '../cli/commands/cli.ts'
import { readLabel } from '../core/worker/labels.ts'
import { addExecutorFlags, type ExecutorFlags } from './worker/executor-flags.ts'
import type { BackupFlags } from './backup.ts'
import type { GivenSettings } from './settings/settings.ts'
import { logStartFailure, wantsJsonLog } from './log/start-failure.ts'
import type { WorkerFlags } from './work.ts'

const PROJECTS_OF_WORKER = `
It serves every project its token is for. --project a,b names some of them, --project all means all:
  punctual worker --project acme,shop --queue gpu`

const LOG_FORMAT = ['--log-format <format>', 'text or json: how the log is written'] as const

/**
 * Commands `up`, `server`, `worker` and `db`. Their modules are loaded on demand, so that other
 * commands start quickly.
 */
export function addServerCommands(program: Command, cli: Cli, version: string): void {
  addUp(program, cli, version)
  addServer(program, cli, version)
  addWorker(program, cli)
  addBackup(program, cli, version)
}

function addUp(program: Command, cli: Cli, version: string): void {
  const up = program
    .command('up')
    .description('start everything here: server, scheduler and a worker')
  addExecutorFlags(addProcessOptions(addServerOptions(up)))
    .option('--slots <count>', 'how much may run at once; 8 if absent')
    .action((flags: GivenSettings & ExecutorFlags) => startServer(cli, version, flags, true))
}

function addServer(program: Command, cli: Cli, version: string): void {
  const server = program.command('server').description('start a server without a worker')
  addServerOptions(server).action((flags: GivenSettings) => startServer(cli, version, flags, false))
}

function addWorker(program: Command, cli: Cli): void {
  addExecutorFlags(addProcessOptions(program.command('worker')))
    .description('take work from a server and run it here')
    .addHelpText('after', PROJECTS_OF_WORKER)
    .option(
      '--allow-address <address>',
      'an internal address that requests may go to; may be repeated',
      repeat,
    )
    .option('--name <name>', 'the name of the worker in lists')
    .option('--queue <name>', 'a queue to serve, in order of preference; may be repeated', repeat)
    .option(
      '--label <name=value>',
      'a label of the worker, gpu=a100 or just gpu; may be repeated',
      readLabel,
    )
    .option('--slots <count>', 'how much may run at once', '8')
    .option('--launchers <count>', 'processes that start the processes', '1')
    .option('--pass-env <name>', 'a variable its processes may see; may be repeated', repeat)
    .option(...LOG_FORMAT)
    .action((flags: WorkerFlags, command: Command) =>
      runUntilStopped(cli, async () => {
        const { work } = await import('./work.ts')
        return work(flags, command, cli.terminal)
      }),
    )
}

function addBackup(program: Command, cli: Cli, version: string): void {
  const db = program.command('db').description('manage the data of a server')
  db.command('backup <directory>')
    .description('copy the data into a new directory, even while the server runs')
    .option('--data <directory>', 'where the server keeps its data; ./.punctual if absent')
    .option('--with-secret-key', 'copy the key of secrets as well')
    .action(async (directory: string, flags: BackupFlags, command: Command) => {
      const { readSettings } = await import('./settings/settings.ts')
      const settings = readSettings({ data: flags.data }, process.env)
      const { backUp } = await import('./backup.ts')
      const { terminal } = cli
      const withSecretKey = flags.withSecretKey ?? false
      const format = cli.format(command)
      cli.exitWith(await backUp(settings, directory, { terminal, version, format, withSecretKey }))
    })
}

/** Runs a long-running command; in JSON mode a failure to start is logged as a record, too. */
async function runUntilStopped(cli: Cli, run: () => Promise<number>): Promise<void> {
  try {
    cli.exitWith(await run())
  } catch (error) {
    if (!wantsJsonLog(process.argv, process.env)) throw error
    cli.exitWith(logStartFailure(error, cli.terminal))
  }
}

function startServer(
  cli: Cli,
  version: string,
  flags: GivenSettings & ExecutorFlags,
  withWorker: boolean,
): Promise<void> {
  return runUntilStopped(cli, async () => {
    const { readSettings } = await import('./settings/settings.ts')
    const settings = readSettings(flags, process.env)
    const { serve } = await import('./serve.ts')
    return serve(settings, { terminal: cli.terminal, version, withWorker, executors: flags })
  })
}

function addServerOptions(command: Command): Command {
  return command
    .option('--listen <host:port>', 'where to listen; 127.0.0.1:7420 if absent')
    .option('--port <port>', 'the port alone')
    .option('--data <directory>', 'where to keep data; ./.punctual if absent')
    .option('--store <url>', 'sqlite:<file> or postgres://…')
    .option('--blobs <place>', 'fs or store: where large inputs and results are kept')
    .option('--inline-limit <size>', 'larger inputs and results are stored there; 64KiB if absent')
    .option('--plain-ttl <time>', 'how long a legacy worker may be silent; 20s if absent')
    .option('--plain-empty <answer>', '204 or json: its answer when there is no job; 204 if absent')
    .option('--worker-protocol <version>', 'refuse workers of older protocols; 1 if absent')
    .option('--open', 'let callers on this machine in without a token')
    .option('--allow-host <name>', 'another host name of the server; may be repeated', repeat)
    .option(
      '--allow-address <address>',
      'a permitted address for webhooks besides the internet; may be repeated',
      repeat,
    )
    .option('--tls-cert <file>', 'serve HTTPS with this certificate')
    .option('--tls-key <file>', 'the private key of the certificate')
    .option('--secret-key <file>', 'keys of secrets; <data>/secret-key if absent')
    .option(...LOG_FORMAT)
}

function addProcessOptions(command: Command): Command {
  return command
    .option(
      '--limit <name=value>',
      'a limit for each command: memory=1GiB; may be repeated',
      repeat,
    )
    .option('--allow-user <names>', 'users that commands may ask to run as', repeat)
    .option('--run-as <user>', 'the user for commands that request none')
    .option('--allow-root', 'commands may run as root: no warning')
    .option('--launcher <kind>', 'auto, native or node: the program that starts processes')
    .option('--containment <level>', 'auto, pidns, cgroup or group: how processes are contained')
}

function repeat(value: string, before: string[] = []): string[] {
  return [...before, value]
}
