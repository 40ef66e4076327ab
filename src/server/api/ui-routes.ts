import { readFileSync } from 'node:fs'
import type { Api } from './api.ts'

/** Nothing but what this server serves itself; nothing inline; nobody's frame. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ')

const FILES = {
  'index.html': 'text/html; charset=utf-8',
  'app.js': 'text/javascript; charset=utf-8',
  'style.css': 'text/css; charset=utf-8',
} as const

/** The page people look at. It holds no data: what it shows it asks for, with a token. */
export function uiRoutes(api: Api): void {
  const serve = (url: string, file: keyof typeof FILES) => {
    const text = readFileSync(new URL(`../ui/${file}`, import.meta.url))
    api.route({
      method: 'GET',
      url,
      config: { permission: 'public' },
      schema: { summary: 'A page to look at runs' },
      handler: (_request, reply) =>
        reply
          .header('content-type', FILES[file])
          .header('content-security-policy', POLICY)
          .header('x-content-type-options', 'nosniff')
          .header('referrer-policy', 'no-referrer')
          .header('cache-control', 'no-cache')
          .send(text),
    })
  }
  serve('/ui', 'index.html')
  serve('/ui/runs/:id', 'index.html')
  serve('/ui/app.js', 'app.js')
  serve('/ui/style.css', 'style.css')
}
