import type { Command } from 'commander'
import type { CrontabEntry } from '../../core/schedule/crontab/entry.ts'
import type { Cli } from './cli.ts'
import { EXIT } from '../errors/exit-codes.ts'
import { type CrontabChoice, findCrontab } from '../find/find-crontab.ts'
import { type LineFate, showImport } from '../job-files/show-import.ts'
import { storeJob } from '../job-files/store-job.ts'

interface ImportOptions extends CrontabChoice {
  readonly zone?: string
  readonly prefix: string
  readonly overlap?: string
  readonly asWorker?: true
  readonly replace?: true
  readonly dryRun?: true
}

/** import crontab: what ran by itself elsewhere. */
export function importingCommands(program: Command, cli: Cli): void {
  const { terminal } = cli
  program
    .command('import')
    .description('make jobs of what another scheduler runs')
    .command('crontab')
    .description(
      'make a job with a schedule of every line of a crontab, and tell what became of each',
    )
    .argument('[file]', 'a crontab; - for standard input, and without one your own')
    .option('--user', 'your own, as crontab -l shows it')
    .option('--system', 'with a user in each line: /etc/crontab, or the file that is named')
    .option('--dry-run', 'only tell what would become of each line; needs no server')
    .option('--zone <zone>', 'on whose clocks, where CRON_TZ does not say; those of this machine')
    .option('--prefix <text>', 'what the names of the jobs begin with', '')
    .option('--overlap <policy>', 'queue(n), skip, replace, or allow as cron does')
    .option('--as-worker', 'run as whoever runs the worker, whatever the line says')
    .option('--replace', 'change jobs of the same name that are there')
    .action(async (file: string | undefined, options: ImportOptions, command: Command) => {
      const { text, source, hasUsers } = findCrontab(file, options, terminal)
      // Loaded here, for the same reason as all rules of time.
      const { jobsOf, readCrontab } = await import('../../core/schedule/crontab/index.ts')
      const { prefix, overlap } = options
      const lines = readCrontab(text, { hasUsers, zone: options.zone ?? terminal.zone })
      const entries = lines.filter((line): line is CrontabEntry => line.kind === 'entry')
      const keepsUsers = options.asWorker !== true
      const jobs = jobsOf(entries, { source, prefix, keepsUsers, overlap })
      const fates: LineFate[] = []
      for (const line of lines) {
        if (line.kind !== 'entry') fates.push(line)
        else {
          const job = jobs.find((one) => one.line === line.line) as (typeof jobs)[number]
          const fate = options.dryRun
            ? ({ outcome: 'planned', message: null } as const)
            : await storeJob(cli.calls(command), job, options.replace === true)
          const { cron, zone, words } = line
          fates.push({ kind: 'job', ...job, cron, zone, words, ...fate })
        }
      }
      showImport(terminal, cli.format(command), fates, source)
      const hasFailed = fates.some((one) => one.kind === 'job' && one.outcome === 'failed')
      if (hasFailed) cli.exitWith(EXIT.conflict)
    })
}
