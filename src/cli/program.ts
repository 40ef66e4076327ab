import { Command, CommanderError, type HelpContext, Option } from 'commander'
import { nearestName } from '../core/text/nearest.ts'
import { type Cli, createCli } from './commands/cli.ts'
import { tokenCommands } from './commands/tokens.ts'
import { contextCommands } from './commands/contexts.ts'
import { backfillCommands } from './commands/backfills.ts'
import { jobFileCommands } from './commands/job-files.ts'
import { forecastCommands } from './commands/forecast.ts'
import { doctorCommands } from './commands/doctor.ts'
import { importCommands } from './commands/import.ts'
import { jobCommands } from './commands/jobs.ts'
import { logCommands } from './commands/logs.ts'
import { runsCommands } from './commands/runs.ts'
import { historyCommands } from './commands/history.ts'
import { pauseCommands } from './commands/pause.ts'
import { queueCommands } from './commands/queues.ts'
import { runCommands } from './commands/run.ts'
import { createScheduleCommands } from './commands/create-schedules.ts'
import { secretCommands } from './commands/secrets.ts'
import { runControlCommands } from './commands/run-control.ts'
import { schedulesCommands } from './commands/schedules.ts'
import { workflowCommands } from './commands/workflows.ts'
import { webhookCommands } from './commands/webhooks.ts'
import { whyCommand } from './commands/why.ts'
import { addExamples } from './examples.ts'
import { EXIT } from './errors/exit-codes.ts'
import { FORMATS, printOne } from './terminal/output.ts'
import { repeated } from './args/repeated.ts'
import { reportError } from './errors/report-error.ts'
import type { Terminal } from './terminal/terminal.ts'

/** Adds the commands that start servers and workers, which the composition root provides. */
export type AddServerCommands = (program: Command, cli: Cli) => void

export interface ProgramOptions {
  readonly terminal: Terminal
  readonly version: string
  readonly addServerCommands: AddServerCommands
}

/** Runs the command line. Resolves with the exit code. */
export async function runProgram(
  argv: readonly string[],
  options: ProgramOptions,
): Promise<number> {
  const { terminal } = options
  const cli = createCli(terminal, argv)
  let command = 'punctual'
  let flags: readonly string[] = []
  let given: readonly string[] = []
  const program = createProgram(cli, options)
    .hook('preSubcommand', (_program, called) => {
      command = `punctual ${called.name()}`
    })
    .hook('preAction', (_program, called) => {
      const isGiven = (name: string) => called.getOptionValueSource(name) === 'cli'
      const namesOf = (options: readonly Option[]) =>
        options.flatMap(({ long }) => long?.slice(2) ?? [])
      flags = namesOf(called.options)
      given = namesOf(called.options.filter((option) => isGiven(option.attributeName())))
    })
  for (const group of program.commands) {
    group.hook('preSubcommand', (_group, called) => {
      command = `punctual ${group.name()} ${called.name()}`
    })
  }
  try {
    await program.parseAsync(argv, { from: 'user' })
    return cli.exitCode
  } catch (error) {
    const code = reportError(error, terminal, {
      command,
      flags,
      given,
      isForPrograms: wantsJson(argv),
    })
    // The exit codes of `exec` are its child's: an own failure must not look like one of those.
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

/** Refuses help for an unknown command instead of printing the general help. */
class Program extends Command {
  override createCommand(name?: string): Command {
    return new Program(name)
  }

  override outputHelp(context?: HelpContext | ((text: string) => string)): void {
    const unknown = this.#unknownCommand()
    if (unknown !== undefined) throw unknown
    super.outputHelp(context as HelpContext)
  }

  #unknownCommand(): CommanderError | undefined {
    if (this.commands.length === 0 || this.registeredArguments.length > 0) return undefined
    const [first, second] = this.args
    const named = first === 'help' ? second : first
    const names = this.commands.flatMap((one) => [one.name(), ...one.aliases()])
    if (named === undefined || named.startsWith('-') || names.includes(named)) return undefined
    const meant = nearestName(named, names)
    const hint = meant === undefined ? '' : `\n(Did you mean ${meant}?)`
    const message = `error: unknown command '${named}'${hint}`
    return new CommanderError(EXIT.usage, 'commander.unknownCommand', message)
  }
}

export function createProgram(cli: Cli, options: ProgramOptions): Command {
  const { terminal, version, addServerCommands } = options
  const program: Command = new Program('punctual')
    .description(
      'Runs commands, scripts and functions: now, later, on a schedule. Nothing lost, nothing silent.',
    )
    .version(version, '-V, --version', 'print the version')
    // The environment is read where the server is chosen: flags override it.
    .option('--server <url>', 'the server to talk to (env: PUNCTUAL_SERVER)', repeated)
    .option('-C, --context <name>', 'a server by its context name (env: PUNCTUAL_CONTEXT)')
    .option('--token <token>', 'the token for the server (env: PUNCTUAL_TOKEN)')
    .addOption(new Option('--project <name>', 'the project it is about').env('PUNCTUAL_PROJECT'))
    .addOption(new Option('-o, --output <format>', 'how to show it').choices(FORMATS))
    .showSuggestionAfterError()
    .configureHelp({
      showGlobalOptions: true,
      // `--version` belongs to the program, not to a command.
      visibleGlobalOptions: (command) => (command.parent ? globalOptionsOf(command) : []),
    })
    .exitOverride()
    .configureOutput({
      writeOut: terminal.out,
      writeErr: terminal.err,
      // Errors are printed in one place and one format.
      outputError: () => {},
    })
  program.commandsGroup('Start:')
  addServerCommands(program, cli)
  program.commandsGroup('Run:')
  runCommands(program, cli)
  logCommands(program, cli)
  createScheduleCommands(program, cli)
  program.commandsGroup('Define:')
  jobFileCommands(program, cli)
  jobCommands(program, cli)
  program.commandsGroup('Inspect:')
  runsCommands(program, cli)
  whyCommand(program, cli)
  schedulesCommands(program, cli)
  historyCommands(program, cli)
  forecastCommands(program, cli)
  program.commandsGroup('Control:')
  runControlCommands(program, cli)
  workflowCommands(program, cli)
  pauseCommands(program, cli)
  backfillCommands(program, cli)
  program.commandsGroup('Administer:')
  importCommands(program, cli)
  queueCommands(program, cli)
  tokenCommands(program, cli)
  secretCommands(program, cli)
  webhookCommands(program, cli)
  contextCommands(program, cli)
  doctorCommands(program, cli)
  program
    .command('version')
    .description('print the version')
    .action((_options: object, command: Command) =>
      printOne(
        terminal,
        cli.format(command),
        { version },
        { name: version, humanText: () => `${version}\n` },
      ),
    )
  program.helpCommand('help [command]', 'show how a command is used')
  addExamples(program)
  return program.addHelpText('after', EXAMPLES)
}

function globalOptionsOf(command: Command): Option[] {
  let root = command
  while (root.parent) root = root.parent
  return root.options.filter(({ hidden, long }) => !hidden && long !== '--version')
}

/** Also works when parsing failed; words after `--` belong to another program. */
function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--')
  const ours = end < 0 ? argv : argv.slice(0, end)
  return ours.some((word, index) => {
    const format = /^(?:-o|--output=)(.+)$/.exec(word)?.[1] ?? ours[index + 1]
    return /^(?:-o|--output)/.test(word) && (format === 'json' || format === 'jsonl')
  })
}
