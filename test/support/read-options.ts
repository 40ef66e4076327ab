import { parseArgs, type ParseArgsConfig } from 'node:util'

/**
 * Parses the options of a development tool. For `--help` or a mistake it prints the usage instead of a stack
 * trace.
 */
export function readOptions<const Options extends NonNullable<ParseArgsConfig['options']>>(
  usage: string,
  options: Options,
): ReturnType<typeof parseArgs<{ options: Options; allowPositionals: true }>> {
  try {
    return parseArgs({ options, allowPositionals: true })
  } catch (error) {
    const isPlea = process.argv.includes('--help')
    console.error(isPlea ? usage : `${(error as Error).message}\n${usage}`)
    process.exit(isPlea ? 0 : 2)
  }
}
