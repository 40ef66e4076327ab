import { main } from './punctual.ts'

// `npm start`: everything, here, as `punctual up` would have it.
await main(['up', ...process.argv.slice(2)])
