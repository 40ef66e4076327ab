import { PunctualError } from '../../../core/errors.ts'
import type { Api } from '../http/api.ts'
import { sendPageFile } from '../http/page-file.ts'

/** The web page. It contains no data: it requests everything through the API, with a token. */
export function uiRoutes(api: Api): void {
  const serve = (url: string, file: string) => {
    api.route({
      method: 'GET',
      url,
      config: { permission: 'public' },
      schema: { summary: 'The web page' },
      handler: (_request, reply) => sendPageFile(reply, `ui/${file}`),
    })
  }
  serve('/ui', 'index.html')
  serve('/ui/runs/:id', 'index.html')
  serve('/ui/app.js', 'app.js')
  serve('/ui/ansi.js', 'ansi.js')
  serve('/ui/style.css', 'style.css')

  // Programs get 404: only browsers ask for HTML explicitly.
  api.route({
    method: 'GET',
    url: '/',
    config: { permission: 'public' },
    handler: (request, reply) => {
      void reply.header('vary', 'accept')
      if (asksForHtml(request.headers.accept)) return reply.redirect('/ui', 302)
      const hint = 'The API is under /v1, its reference at /docs/api, the page for browsers at /ui.'
      throw new PunctualError('not_found', 'there is nothing at this path', { hint })
    },
  })
  api.route({
    method: 'GET',
    url: '/ui/',
    config: { permission: 'public' },
    handler: (_request, reply) => reply.redirect('/ui', 302),
  })
}

/** Accepts `text/html`, unless it is refused with `q=0`. */
function asksForHtml(accept: string | undefined): boolean {
  return (accept ?? '').split(',').some((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    return type === 'text/html' && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
  })
}
