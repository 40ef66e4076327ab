import { Command, CommanderError, Option } from 'commander'
import { PunctualError } from '../core/errors.ts'
import { type Cli, createCli } from './cli.ts'
import { administrationCommands } from './commands/administration.ts'
import { helpingCommands } from './commands/helping.ts'
import { lookingCommands } from './commands/looking.ts'
import { runningCommands } from './commands/running.ts'
import { steeringCommands } from './commands/steering.ts'
import { EXIT, exitCodeOf } from './exit-codes.ts'
import { Failure } from './failure.ts'
import { FORMATS } from './output.ts'
import { paint, type Terminal } from './terminal.ts'

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
  const program = createProgram(cli, options)
  try {
    await program.parseAsync(argv, { from: 'user' })
    return cli.exitCode
  } catch (error) {
    return tell(error, terminal, argv)
  }
}

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
    .configureOutput({ writeOut: terminal.out, writeErr: terminal.err })
  program
    .command('version')
    .description('say which version this is')
    .action(() => terminal.out(`${version}\n`))
  addStarters(program, cli)
  runningCommands(program, cli)
  lookingCommands(program, cli)
  steeringCommands(program, cli)
  administrationCommands(program, cli)
  helpingCommands(program, cli)
  for (const command of program.commands) command.exitOverride()
  return program
}

function tell(error: unknown, terminal: Terminal, argv: readonly string[]): number {
  if (error instanceof CommanderError) {
    return error.exitCode === 0 ? EXIT.ok : EXIT.usage
  }
  if (error instanceof Failure) {
    const wantsJson = argv.includes('json') || argv.includes('jsonl')
    if (wantsJson && error.problem) terminal.err(`${JSON.stringify(error.problem)}\n`)
    else say(terminal, error.message, error.hint, error.problem?.code)
    return error.exitCode
  }
  if (error instanceof PunctualError) {
    say(terminal, error.message, error.hint, error.code)
    return error.code === 'config_invalid' ? EXIT.config : exitCodeOf(error.status)
  }
  say(terminal, error instanceof Error ? error.message : String(error), undefined, undefined)
  return EXIT.unexpected
}

/** What happened, what to do about it, and a word to look it up by. */
function say(
  terminal: Terminal,
  message: string,
  hint: string | undefined,
  code: string | undefined,
): void {
  terminal.err(`${paint(terminal, 'red', '✖')} ${message}\n`)
  if (hint !== undefined) terminal.err(`  ${hint}\n`)
  if (code !== undefined) terminal.err(paint(terminal, 'grey', `  (${code})\n`))
}
