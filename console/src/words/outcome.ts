/** The words of what came of an act, and of why it was refused. */
import { sectionWords } from './table.ts';

/** A refusal from the graph: its code, its English text, and the fields that it is about. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly fields?: readonly { readonly path: string; readonly message: string }[];
}

/** The codes of the graph's refusals. The text behind them says which argument or object it is. */
const inRussian: Readonly<Record<string, string>> = {
  unauthorized: 'Сеанс закончился: войдите снова.',
  forbidden: 'Для этого у вас нет прав.',
  scope_required: 'Для этого у вас нет прав.',
  live_not_enabled: 'Боевой режим для этого мерчанта выключен.',
  ip_not_allowed: 'Адреса нет в списке разрешённых.',
  aml_blocked: 'Клиент, карта, телефон или счёт в списке блокировок.',
  forbidden_purpose: 'В назначении есть запрещённое слово.',
  signature_required: 'Магазин требует подпись запросов.',
  invalid_signature: 'Подпись не подходит.',
  not_found: 'Такого нет, или оно вам недоступно.',
  not_pending: 'Состояние уже другое: так больше сделать нельзя.',
  idempotent_conflict: 'Это уже было отправлено с другими данными: посмотрите, что получилось.',
  idempotent_in_progress: 'Предыдущее нажатие ещё выполняется.',
  payment_not_authorized: 'Банк больше не удерживает эти деньги, или с ними уже что-то делают.',
  payment_not_succeeded: 'Платёж не оплачен: возвращать нечего.',
  already_refunded: 'Платёж уже возвращён целиком.',
  token_not_active: 'Сохранённый способ оплаты не действует.',
  receipt_not_expected: 'Такой чек сейчас не нужен.',
  amount_exceeds_remainder: 'Сумма больше остатка.',
  capture_declined: 'Банк отказал в списании: деньги остаются удержанными.',
  insufficient_balance: 'На балансе не хватает денег.',
  route_not_configured: 'Для этого у магазина не настроен банк.',
  method_unsupported: 'Банки магазина не поддерживают эту операцию.',
  router_error: 'Банк получателя неизвестен, или его маршрутизатор не ответил.',
  payload_too_large: 'Слишком много данных за один раз.',
  query_too_complex: 'Запрос слишком большой: сузьте его.',
  rate_limited: 'Слишком много запросов: подождите немного.',
  unavailable: 'Часть сервиса не отвечает: попробуйте чуть позже.',
  internal_error: 'Внутренняя ошибка сервиса.',
};

/** What is expected of a field, by its name in the graph. */
const fieldsInRussian: Readonly<Record<string, string>> = {
  name: 'название: от 1 до 200 символов',
  shopName: 'название магазина: от 1 до 200 символов',
  legalName: 'юридическое название: до 300 символов',
  inn: 'ИНН: 10 или 12 цифр, и контрольные цифры должны сходиться',
  email: 'почта: адрес вида name@shop.ru',
  contactEmail: 'почта: адрес вида help@shop.ru',
  contactPhone: 'телефон: + и от 10 до 15 цифр',
  siteUrl: 'сайт: адрес целиком, с https://',
  offerUrl: 'оферта: адрес целиком, с https://',
  url: 'адрес: с https:// и доступный из интернета',
  entries: 'адреса: IPv4 или сеть вида 203.0.113.0/24',
  overlapHours: 'часы: целое число от 0 до 24; у подписи legacy только 0',
};

const badRequest = 'В запросе чего-то не хватает или что-то указано неверно';

/** The wrong fields; for one without words here, what the graph says of it. */
const wrongInRussian = (message: string, fields: NonNullable<Refusal['fields']>): string => {
  const known = fields.map(({ path, message: why }) => {
    const [name = path] = path
      .split(/[.[]/)
      .toReversed()
      .filter((part) => /^[a-z]/i.test(part));
    return fieldsInRussian[name] ?? `${path}: ${why}`;
  });
  return `${badRequest}: ${known.length > 0 ? known.join('; ') : message}`;
};

export const outcomeWords = sectionWords({
  unknown: [
    'No answer came: it is not known whether it was done.',
    'Ответ не пришёл: неизвестно, выполнено ли это.',
  ],
  once: [
    'Press again to find out: it is not done twice.',
    'Нажмите ещё раз, чтобы узнать: дважды это не выполнится.',
  ],
  twice: [
    'Look at what is there first: pressing again may do it twice.',
    'Сначала проверьте, что получилось: повторное нажатие может выполнить это дважды.',
  ],
  pending: [
    'The answer to this was lost. Press to find out: it is not done twice.',
    'Ответ не получен. Нажмите, чтобы узнать: дважды это не выполнится.',
  ],
  discard: ['Close without keeping what was typed?', 'Закрыть, не сохраняя введённое?'],
  stay: ['Keep editing', 'Вернуться к вводу'],
  leave: ['Discard', 'Не сохранять'],
  /** The graph's own texts are English. */
  refusal: ({ code, message, fields = [] }: Refusal) => [
    fields.length > 1 ? fields.map((one) => `${one.path}: ${one.message}`).join('; ') : message,
    code === 'bad_request'
      ? wrongInRussian(message, fields)
      : (inRussian[code] ?? 'Сервис отказал.'),
  ],
});
