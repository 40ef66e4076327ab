import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import type { FastifyReply } from 'fastify'

/** Allows only resources of this server, nothing inline, and no framing. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ')

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
}

/** Sends a file of a page, by its path from `src/server`: read on request and not cached. */
export async function sendPageFile(reply: FastifyReply, path: string): Promise<FastifyReply> {
  const text = await readFile(new URL(`../../${path}`, import.meta.url))
  return reply
    .header('content-type', TYPES[extname(path)])
    .header('content-security-policy', POLICY)
    .header('x-content-type-options', 'nosniff')
    .header('referrer-policy', 'no-referrer')
    .header('cache-control', 'no-cache')
    .send(text)
}
