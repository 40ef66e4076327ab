import type { Api } from '../http/api.ts'
import { sendPageFile } from '../http/page-file.ts'

/** The page people look at. It holds no data: what it shows it asks for, with a token. */
export function uiRoutes(api: Api): void {
  const serve = (url: string, file: string) => {
    api.route({
      method: 'GET',
      url,
      config: { permission: 'public' },
      schema: { summary: 'A page to look at runs' },
      handler: (_request, reply) => sendPageFile(reply, `ui/${file}`),
    })
  }
  serve('/ui', 'index.html')
  serve('/ui/runs/:id', 'index.html')
  serve('/ui/app.js', 'app.js')
  serve('/ui/style.css', 'style.css')
}
