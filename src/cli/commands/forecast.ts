import type { Command } from 'commander'
import type { WireForecast } from '../../core/schedule/forecast/views.ts'
import type { Cli } from './cli.ts'
import { requireJob } from '../find/find-job.ts'
import { drawForecast } from '../render/draw-forecast.ts'
import { printOne } from '../terminal/output.ts'

/** Command `forecast`: what will run if nothing changes. */
export function forecastCommands(program: Command, cli: Cli): void {
  const { terminal } = cli
  program
    .command('forecast')
    .description(
      'show the load to expect: how often schedules fire, which coincide, how busy workers will be',
    )
    .argument('[job]', 'only the schedules of this job')
    .option('--days <count>', 'how many days ahead, up to a year', '7')
    .option('-n, --limit <count>', 'how many schedules are listed', '10')
    .action(
      async (
        job: string | undefined,
        { days, limit }: { days: string; limit: string },
        command: Command,
      ) => {
        const query = new URLSearchParams({ days, limit, ...(job === undefined ? {} : { job }) })
        const path = `/v1/forecast?${query.toString()}`
        const calls = cli.calls(command)
        const seen = await calls.call<WireForecast>('GET', path)
        if (seen.schedules.length === 0 && job !== undefined) await requireJob(calls, job)
        const humanText = () => drawForecast(terminal, seen)
        printOne(terminal, cli.format(command), seen, { name: String(seen.fires), humanText })
      },
    )
}
