import { parseArgs, type ParseArgsConfig } from 'node:util'

/** The options of a tool of ours. Whoever asks for help or mistypes sees how it is called, and no stack. */
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
