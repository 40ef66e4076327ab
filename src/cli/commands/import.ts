import type { Command } from 'commander'
import type { CrontabEntry } from '../../core/schedule/crontab/entry.ts'
import type { Cli } from './cli.ts'
import { EXIT } from '../errors/exit-codes.ts'
import { type CrontabChoice, findCrontab, usersOfMachine } from '../find/find-crontab.ts'
import { type LineOutcome, showImport } from '../job-files/show-import.ts'
import { storeJob } from '../job-files/store-job.ts'

interface ImportOptions extends CrontabChoice {
  readonly zone?: string
  readonly prefix: string
  readonly overlap?: string
  readonly asWorker?: true
  readonly replace?: true
  readonly dryRun?: true
}

/** Command `import crontab`: jobs from another scheduler. */
export function importCommands(program: Command, cli: Cli): void {
  const { terminal } = cli
  program
    .command('import')
    .description('import jobs from another scheduler')
    .command('crontab')
    .description(
      'create a job with a schedule for every line of a crontab, and report the outcomes',
    )
    .argument('[file]', 'a crontab; - for standard input, and without one your own')
    .option('--user', 'import your own crontab, as crontab -l shows it')
    .option('--system', 'read lines with a user: /etc/crontab, or the named file')
    .option('--no-system', 'read lines without a user, even if every line seems to name one')
    .option('--dry-run', 'only print what would be created; needs no server')
    .option('--zone <zone>', 'the time zone if CRON_TZ is not set; that of this machine if absent')
    .option('--prefix <text>', 'a prefix for the names of the jobs', '')
    .option('--overlap <policy>', 'queue(n), skip, replace, or allow as cron does')
    .option('--as-worker', "run as the worker's user, whatever the line says")
    .option('--replace', 'replace existing jobs of the same name')
    .action(async (file: string | undefined, options: ImportOptions, command: Command) => {
      const { text, source, hasUsers: known } = findCrontab(file, options, terminal)
      // Loaded on demand, like all schedule rules.
      const { importedJobsOf, hasUserField, readCrontab } =
        await import('../../core/schedule/crontab/index.ts')
      const hasUsers = known ?? hasUserField(text, usersOfMachine())
      if (hasUsers && known === undefined) terminal.err(SEEMS_SYSTEM)
      const { prefix, overlap } = options
      const lines = readCrontab(text, { hasUsers, zone: options.zone ?? terminal.zone })
      const entries = lines.filter((line): line is CrontabEntry => line.kind === 'entry')
      const keepsUsers = options.asWorker !== true
      const jobs = importedJobsOf(entries, { source, prefix, keepsUsers, overlap })
      const lineOutcomes: LineOutcome[] = []
      for (const line of lines) {
        if (line.kind !== 'entry') lineOutcomes.push(line)
        else {
          const job = jobs.find((one) => one.line === line.line) as (typeof jobs)[number]
          const lineOutcome = options.dryRun
            ? ({ outcome: 'planned', message: null } as const)
            : await storeJob(cli.calls(command), job, options.replace === true)
          const { cron, zone, words } = line
          lineOutcomes.push({ kind: 'job', ...job, cron, zone, words, ...lineOutcome })
        }
      }
      showImport(terminal, cli.format(command), lineOutcomes, source)
      const hasFailed = lineOutcomes.some((one) => one.kind === 'job' && one.outcome === 'failed')
      if (hasFailed) cli.exitWith(EXIT.conflict)
      else if (lineOutcomes.some(({ kind }) => kind === 'refused')) cli.exitWith(EXIT.partial)
    })
}

const SEEMS_SYSTEM =
  'note: every line names a user, so this is read as the crontab of a system; --no-system reads it as that of one user\n'
