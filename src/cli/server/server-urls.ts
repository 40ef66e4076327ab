import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'

/** Addresses of the nodes of one installation, as repeated values or separated by commas. */
export function readServerUrls(texts: readonly string[]): readonly string[] {
  const urls = texts.flatMap((text) => text.split(',')).map((text) => checkUrl(text.trim()))
  return [...new Set(urls)]
}

function checkUrl(url: string): string {
  if (URL.canParse(url) && /^https?:/.test(url)) return url.replace(/\/$/, '')
  throw new Failure(`"${url}" is not the address of a server`, {
    exitCode: EXIT.usage,
    hint: 'Addresses look like http://127.0.0.1:7420.',
  })
}
