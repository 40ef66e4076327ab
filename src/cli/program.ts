import { Command, Option } from 'commander'
import { type Cli, createCli } from './commands/cli.ts'
import { administrationCommands } from './commands/tokens.ts'
import { backfillingCommands } from './commands/backfills.ts'
import { filingCommands } from './commands/job-files.ts'
import { forecastingCommands } from './commands/forecast.ts'
import { helpingCommands } from './commands/doctor.ts'
import { importingCommands } from './commands/import.ts'
import { lookingCommands } from './commands/runs.ts'
import { historyCommands } from './commands/history.ts'
import { pausingCommands } from './commands/pause.ts'
import { queueCommands } from './commands/queues.ts'
import { runningCommands } from './commands/run.ts'
import { schedulingCommands } from './commands/create-schedules.ts'
import { secretCommands } from './commands/secrets.ts'
import { steeringCommands } from './commands/run-control.ts'
import { timetableCommands } from './commands/schedules.ts'
import { workflowCommands } from './commands/workflows.ts'
import { webhookCommands } from './commands/webhooks.ts'
import { EXIT } from './errors/exit-codes.ts'
import { FORMATS, printOne } from './terminal/output.ts'
import { tell } from './errors/report-error.ts'
import type { Terminal } from './terminal/terminal.ts'

/** Adds commands that start something here; they come from whoever knows the adapters. */
export type AddStarters = (program: Command, cli: Cli) => void

export interface ProgramOptions {
  readonly terminal: Terminal
  readonly version: string
  readonly addStarters: AddStarters
}

/** The command line. Resolves with the code for the shell. */
export async function runProgram(
  argv: readonly string[],
  options: ProgramOptions,
): Promise<number> {
  const { terminal } = options
  const cli = createCli(terminal, argv)
  let command = 'punctual'
  const program = createProgram(cli, options).hook('preSubcommand', (_program, called) => {
    command = `punctual ${called.name()}`
  })
  try {
    await program.parseAsync(argv, { from: 'user' })
    return cli.exitCode
  } catch (error) {
    const code = tell(error, terminal, { command, isForPrograms: wantsJson(argv) })
    // The codes of `exec` are its child's: a failure of ours must not look like one of those.
    const isFailure = code !== EXIT.ok && code !== EXIT.interrupted
    return command === 'punctual exec' && isFailure ? EXIT.execFailed : code
  }
}

const EXAMPLES = `
Try:
  punctual up                          a server and a worker, here
  punctual exec -- echo hello          a command on a worker
  punctual every '15 minutes' -- date    again and again
  punctual runs state:failed since:24h
  punctual why @last`

function createProgram(cli: Cli, options: ProgramOptions): Command {
  const { terminal, version, addStarters } = options
  const program = new Command('punctual')
    .description(
      'Runs commands, scripts and functions: now, later, on a schedule. Nothing lost, nothing silent.',
    )
    .version(version, '-V, --version', 'say which version this is')
    .addOption(new Option('--server <url>', 'the server to talk to').env('PUNCTUAL_SERVER'))
    .addOption(new Option('--token <token>', 'what opens it').env('PUNCTUAL_TOKEN'))
    .addOption(new Option('--project <name>', 'the project it is about').env('PUNCTUAL_PROJECT'))
    .addOption(new Option('-o, --output <format>', 'how to show it').choices(FORMATS))
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput({
      writeOut: terminal.out,
      writeErr: terminal.err,
      // What is wrong is told in one place and one shape.
      outputError: () => {},
    })
  program.commandsGroup('Start:')
  addStarters(program, cli)
  program.commandsGroup('Run:')
  runningCommands(program, cli)
  schedulingCommands(program, cli)
  program.commandsGroup('Define:')
  filingCommands(program, cli)
  program.commandsGroup('Look:')
  lookingCommands(program, cli)
  timetableCommands(program, cli)
  historyCommands(program, cli)
  forecastingCommands(program, cli)
  program.commandsGroup('Steer:')
  steeringCommands(program, cli)
  workflowCommands(program, cli)
  pausingCommands(program, cli)
  backfillingCommands(program, cli)
  program.commandsGroup('Administer:')
  importingCommands(program, cli)
  queueCommands(program, cli)
  administrationCommands(program, cli)
  secretCommands(program, cli)
  webhookCommands(program, cli)
  helpingCommands(program, cli)
  program
    .command('version')
    .description('say which version this is')
    .action((_options: object, command: Command) =>
      printOne(
        terminal,
        cli.format(command),
        { version },
        { name: version, people: () => `${version}\n` },
      ),
    )
  program.helpCommand('help [command]', 'show how a command is used')
  return program.addHelpText('after', EXAMPLES)
}

/** Also when the words could not be understood; those after `--` are not for us. */
function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--')
  const ours = end < 0 ? argv : argv.slice(0, end)
  return ours.some((word, index) => {
    const format = /^(?:-o|--output=)(.+)$/.exec(word)?.[1] ?? ours[index + 1]
    return /^(?:-o|--output)/.test(word) && (format === 'json' || format === 'jsonl')
  })
}
