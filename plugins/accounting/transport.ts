import type { Logger } from 'pino'
import type { EmailConfig } from './config.ts'
import type { Mail } from './mail.ts'

/** The longest that a server may take to be connected to, to greet, and to say anything later. */
const CONNECT_MS = 10_000
const SILENCE_MS = 30_000

export interface Transport {
  /** Resolves when the mail is somebody else's to deliver. */
  send(mail: Mail): Promise<void>
}

export function createMailTransport(config: EmailConfig, log: Logger): Transport {
  const { smtp, from } = config
  if (config.transport === 'log' || smtp === undefined) {
    return {
      async send({ to, subject, text }) {
        log.info({ from, to, subject, text }, 'mail')
      },
    }
  }
  const { host, port, username, password, starttls } = smtp
  // Loading it takes time at the start, which only those spend who send mail.
  const server = import('nodemailer').then(({ createTransport }) =>
    createTransport({
      host,
      port,
      secure: !starttls && port === 465,
      requireTLS: starttls,
      ignoreTLS: !starttls,
      ...(username !== undefined &&
        password !== undefined && { auth: { user: username, pass: password.reveal() } }),
      connectionTimeout: CONNECT_MS,
      greetingTimeout: CONNECT_MS,
      socketTimeout: SILENCE_MS,
      disableFileAccess: true,
      disableUrlAccess: true,
    }),
  )
  return {
    async send({ to, ...mail }) {
      // As a text it would be read as a list: of "ops,ada@example.com" the mail would be Ada's.
      await (await server).sendMail({ from, to: { name: '', address: to }, ...mail })
    },
  }
}
