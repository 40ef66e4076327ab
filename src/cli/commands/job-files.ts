import type { Command } from 'commander'
import type { Cli } from './cli.ts'
import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'
import { applyFiles } from '../job-files/apply.ts'
import { counted } from '../job-files/counted.ts'
import { exportJobs } from '../job-files/export.ts'
import { sourceOf } from '../job-files/source-name.ts'
import { restoreVersion } from '../job-files/restore-version.ts'
import { printOne } from '../terminal/output.ts'
import { harmless } from '../terminal/terminal.ts'
import { readCount } from '../args/read-count.ts'
import { jobsOrFailure, readFiles, tellProblems } from '../job-files/read-files.ts'

interface ApplyOptions {
  readonly prune?: boolean
  readonly source?: string
}

const SOURCE = 'what the folder is called, wherever it is; if absent, its name and a digest'

/** validate, plan, apply, export, schema: jobs as files. */
export function filingCommands(program: Command, cli: Cli): void {
  const { terminal } = cli
  const owning = (paths: readonly string[], { prune = false, source: said }: ApplyOptions) => {
    const found = sourceOf(paths, terminal.cwd)
    const source = found && said !== undefined ? { name: said } : found
    if (found || (!prune && said === undefined)) return { prune, source, onOlder: tellOlder }
    const hint = 'Only a folder as a whole can tell which of its files are gone.'
    const option = prune ? '--prune' : '--source'
    throw new Failure(`${option} is for one folder`, { exitCode: EXIT.usage, hint })
  }
  /** They may be this folder's, or those of another one with its name. */
  const tellOlder = (older: string, names: readonly string[]) => {
    const what = names.length === 1 ? 'a job that has' : `${names.length} jobs that have`
    terminal.err(
      harmless(
        `note: ${what} no file here came from a folder called ${older}, this one or another: ${names.join(', ')}\n` +
          `      Not deleted. If this one: punctual apply --prune --source ${older}, and then once more without --source.\n`,
      ),
    )
  }
  const FILES = 'files and folders; this folder if there is none'

  program
    .command('validate')
    .description('check files with jobs; needs no server')
    .argument('[files...]', FILES)
    .action(async (paths: string[], _options: object, command: Command) => {
      const read = await readFiles(paths, terminal)
      const { files, problems } = read
      if (cli.format(command) !== 'table') terminal.out(`${JSON.stringify(problems, null, 2)}\n`)
      else if (problems.length > 0) tellProblems(terminal, read)
      else terminal.err(`✔ ${counted(files.length, 'file')}, no errors\n`)
      if (problems.length > 0) cli.exitWith(EXIT.usage)
    })

  program
    .command('plan')
    .description('show what apply would change')
    .argument('[files...]', FILES)
    .option('--prune', 'with the jobs it would delete')
    .option('--source <name>', SOURCE)
    .option('--exit-code', 'end with 10 if anything would change')
    .action(
      async (paths: string[], options: ApplyOptions & { exitCode?: true }, command: Command) => {
        const jobs = jobsOrFailure(terminal, await readFiles(paths, terminal))
        const { planFiles, showPlan } = await import('../job-files/plan.ts')
        const plan = await planFiles(cli.calls(command), jobs, owning(paths, options))
        showPlan(terminal, cli.format(command), plan)
        const isSame = plan.every(({ change }) => change === 'same')
        if (options.exitCode && !isSame) cli.exitWith(EXIT.changes)
      },
    )

  program
    .command('apply')
    .description('make the jobs of the server those of the files')
    .argument('[files...]', FILES)
    .option('--prune', 'also delete jobs that were applied from here and have no file any more')
    .option('--source <name>', SOURCE)
    .action(async (paths: string[], options: ApplyOptions, command: Command) => {
      const jobs = jobsOrFailure(terminal, await readFiles(paths, terminal))
      const calls = cli.calls(command)
      const { planFiles } = await import('../job-files/plan.ts')
      const plan = await planFiles(calls, jobs, owning(paths, options))
      const hasFailed = await applyFiles(terminal, cli.format(command), calls, plan)
      if (hasFailed) cli.exitWith(EXIT.conflict)
    })

  program
    .command('export')
    .description('write the jobs of the server as files')
    .argument('[names...]', 'only these jobs')
    .option('--to <folder>', 'where to; without it, one job is printed')
    .option('--force', 'write over files that are there')
    .action(async (names: string[], options: { to?: string; force?: true }, command: Command) =>
      exportJobs(terminal, cli.calls(command), names, options),
    )

  program
    .command('restore')
    .description('make an old version of a job the one in force, as a new version')
    .argument('<job>', 'a job that is defined')
    .requiredOption('--to <version>', 'which one, as a number')
    .action(async (job: string, options: { to: string }, command: Command) => {
      const version = readCount(options.to, '--to')
      const made = await restoreVersion(cli.calls(command), job, version)
      printOne(terminal, cli.format(command), made, {
        name: job,
        people: () => `✔ ${job} is as it was in version ${version}, now version ${made.version}\n`,
      })
    })

  program
    .command('schema')
    .description('print the JSON Schema of files with jobs, for editors')
    .action(async () => {
      const { jobFileSchema } = await import('../../core/schema/json-schema.ts')
      terminal.out(`${JSON.stringify(jobFileSchema(), null, 2)}\n`)
    })
}
