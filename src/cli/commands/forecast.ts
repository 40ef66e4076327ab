import type { Command } from 'commander'
import type { WireForecast } from '../../core/schedule/forecast/views.ts'
import type { Cli } from './cli.ts'
import { drawForecast } from '../render/draw-forecast.ts'
import { printOne } from '../terminal/output.ts'

/** forecast: what is going to happen, if nobody changes anything. */
export function forecastingCommands(program: Command, cli: Cli): void {
  const { terminal } = cli
  program
    .command('forecast')
    .description('look ahead: what fires how often, what falls together, how much there is to do')
    .argument('[job]', 'only the schedules of this job')
    .option('--days <count>', 'how far, up to a year', '7')
    .option('-n, --limit <count>', 'how many schedules are listed', '10')
    .action(
      async (
        job: string | undefined,
        { days, limit }: { days: string; limit: string },
        command: Command,
      ) => {
        const query = new URLSearchParams({ days, limit, ...(job === undefined ? {} : { job }) })
        const path = `/v1/forecast?${query.toString()}`
        const seen = await cli.calls(command).call<WireForecast>('GET', path)
        const people = () => drawForecast(terminal, seen)
        printOne(terminal, cli.format(command), seen, { name: String(seen.fires), people })
      },
    )
}
