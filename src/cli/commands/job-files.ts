import type { Command } from 'commander'
import type { Cli } from './cli.ts'
import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'
import { applyFiles } from '../job-files/apply.ts'
import { counted } from '../job-files/counted.ts'
import { exportJobs } from '../job-files/export.ts'
import { sourceOf } from '../job-files/source-name.ts'
import { printJobWarnings } from '../job-files/job-warnings.ts'
import { restoreVersion } from '../job-files/restore-version.ts'
import { printOne } from '../terminal/output.ts'
import { harmless, type Terminal } from '../terminal/terminal.ts'
import { readCount } from '../args/read-count.ts'
import {
  jobsOrFailure,
  readFiles,
  refuseUnknown,
  printProblems,
  printWarnings,
} from '../job-files/read-files.ts'

interface ApplyOptions {
  readonly prune?: boolean
  readonly source?: string
}

const FILES = 'files and folders; this folder if there is none'
const SOURCE = 'what the folder is called, wherever it is; if absent, its name and a digest'

/** Commands `validate`, `plan`, `apply`, `export` and `schema`: jobs as files. */
export function jobFileCommands(program: Command, cli: Cli): void {
  validateCommand(program, cli)
  planCommand(program, cli)
  applyCommand(program, cli)
  exportAndRestoreCommands(program, cli)
  schemaCommand(program, cli)
}

function validateCommand(program: Command, cli: Cli): void {
  const { terminal } = cli

  program
    .command('validate')
    .description('check files with jobs; needs no server')
    .argument('[files...]', FILES)
    .action(async (paths: string[], _options: object, command: Command) => {
      const found = await readFiles(paths, terminal)
      const { findMisspelledJobs: findNearNames } = await import('../../core/job-file/sub-jobs.ts')
      const read = { ...found, warnings: [...found.warnings, ...findNearNames(found.jobs)] }
      const { files, problems, warnings } = read
      if (cli.format(command) !== 'table') {
        const errors = problems.map((one) => ({ level: 'error', ...one }))
        const rest = warnings.map((one) => ({ level: 'warning', ...one }))
        terminal.out(`${JSON.stringify([...errors, ...rest], null, 2)}\n`)
      } else {
        printWarnings(terminal, read)
        const warningCount = warnings.length > 0 ? `, ${counted(warnings.length, 'warning')}` : ''
        if (problems.length > 0) printProblems(terminal, read)
        else terminal.err(`✔ ${counted(files.length, 'file')}, no errors${warningCount}\n`)
      }
      if (problems.length > 0) cli.exitWith(EXIT.usage)
    })
}

function planCommand(program: Command, cli: Cli): void {
  const { terminal } = cli

  program
    .command('plan')
    .description('show what apply would change')
    .argument('[files...]', FILES)
    .option('--prune', 'include the jobs it would delete')
    .option('--source <name>', SOURCE)
    .option('--exit-code', 'exit with code 10 if anything would change')
    .action(
      async (paths: string[], options: ApplyOptions & { exitCode?: true }, command: Command) => {
        const read = await readFiles(paths, terminal)
        const jobs = jobsOrFailure(terminal, read)
        const calls = cli.calls(command)
        const { deletedIn, planFiles, showPlan } = await import('../job-files/plan.ts')
        const plan = await planFiles(calls, jobs, sourceOptions(terminal, paths, options))
        await refuseUnknown(terminal, calls, read, deletedIn(plan))
        showPlan(terminal, cli.format(command), plan)
        const isSame = plan.every(({ change }) => change === 'same')
        if (options.exitCode && !isSame) cli.exitWith(EXIT.changes)
      },
    )
}

function applyCommand(program: Command, cli: Cli): void {
  const { terminal } = cli

  program
    .command('apply')
    .description('create and change jobs on the server to match the files')
    .argument('[files...]', FILES)
    .option(
      '--prune',
      'also delete jobs that were applied from this folder and have no file any more',
    )
    .option('--source <name>', SOURCE)
    .action(async (paths: string[], options: ApplyOptions, command: Command) => {
      const read = await readFiles(paths, terminal)
      const jobs = jobsOrFailure(terminal, read)
      const calls = cli.calls(command)
      const { deletedIn, planFiles } = await import('../job-files/plan.ts')
      const plan = await planFiles(calls, jobs, sourceOptions(terminal, paths, options))
      await refuseUnknown(terminal, calls, read, deletedIn(plan))
      const hasFailed = await applyFiles(terminal, cli.format(command), calls, plan)
      if (hasFailed) cli.exitWith(EXIT.conflict)
    })
}

function exportAndRestoreCommands(program: Command, cli: Cli): void {
  const { terminal } = cli

  program
    .command('export')
    .description('write the jobs of the server as files')
    .argument('[names...]', 'only these jobs')
    .option('--to <folder>', 'the target folder; if absent, one job is printed')
    .option('--force', 'overwrite existing files')
    .action(async (names: string[], options: { to?: string; force?: true }, command: Command) =>
      exportJobs(terminal, cli.calls(command), names, options),
    )

  program
    .command('restore')
    .description('make an old version of a job current again, as a new version')
    .argument('<job>', 'a job that is defined')
    .requiredOption('--to <version>', 'which one, as a number')
    .action(async (job: string, options: { to: string }, command: Command) => {
      const version = readCount(options.to, '--to')
      const made = await restoreVersion(cli.calls(command), job, version)
      printOne(terminal, cli.format(command), made, {
        name: job,
        humanText: () =>
          `✔ ${job} is as it was in version ${version}, now version ${made.version}\n`,
      })
      printJobWarnings(terminal, made)
    })
}

function schemaCommand(program: Command, cli: Cli): void {
  const { terminal } = cli

  program
    .command('schema')
    .description('print the JSON Schema of files with jobs, for editors')
    .action(async () => {
      const { jobFileSchema } = await import('../../core/schema/json-schema.ts')
      terminal.out(`${JSON.stringify(jobFileSchema(), null, 2)}\n`)
    })
}

function sourceOptions(
  terminal: Terminal,
  paths: readonly string[],
  { prune = false, source: sourceName }: ApplyOptions,
) {
  const found = sourceOf(paths, terminal.cwd)
  const source = found && sourceName !== undefined ? { name: sourceName } : found
  if (found || (!prune && sourceName === undefined)) {
    const onOlder = (older: string, names: readonly string[]) =>
      reportAmbiguous(terminal, older, names)
    return { prune, source, onOlder }
  }
  const hint = 'Only a whole folder shows which of its files are gone.'
  const option = prune ? '--prune' : '--source'
  throw new Failure(`${option} is for one folder`, { exitCode: EXIT.usage, hint })
}

/** Reports jobs that may belong to this folder, or to another one with the same name. */
function reportAmbiguous(terminal: Terminal, older: string, names: readonly string[]): void {
  const what = names.length === 1 ? 'a job that has' : `${names.length} jobs that have`
  terminal.err(
    harmless(
      `note: ${what} no file here came from a folder called ${older}, this one or another: ${names.join(', ')}\n` +
        `      Not deleted. If this one: punctual apply --prune --source ${older}, and then once more without --source.\n`,
    ),
  )
}
