import { parseArgs } from 'node:util'
import { EXIT } from '../cli/errors/exit-codes.ts'
import { explainFailure } from '../cli/errors/report-error.ts'
import { serve } from './serve.ts'
import { readSettings } from './settings/settings.ts'
import { logStartFailure, wantsJsonLog } from './log/start-failure.ts'
import { settingsOfFlags, START_OPTIONS } from './settings/start-options.ts'
import { createSystemTerminal } from './system-terminal.ts'
import { readVersion } from './version.ts'

/** `npm start`: like `punctual up`, without loading the rest of the command line. */
async function main(): Promise<number> {
  const terminal = createSystemTerminal()
  try {
    const { values } = parseArgs({ options: START_OPTIONS })
    const settings = readSettings(settingsOfFlags(values), process.env)
    return await serve(settings, {
      terminal,
      version: readVersion(),
      withWorker: true,
      executors: {},
    })
  } catch (error) {
    if (wantsJsonLog(process.argv, process.env)) return logStartFailure(error, terminal)
    const { exitCode, lines, hint } = explainFailure(error)
    terminal.err(lines.map((line) => `punctual: ${line}\n`).join(''))
    if (hint !== undefined) terminal.err(`  help:  ${hint}\n`)
    return exitCode === EXIT.config ? EXIT.config : EXIT.unexpected
  }
}

process.exitCode = await main()
