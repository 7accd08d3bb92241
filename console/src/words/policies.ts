/** The words of routes, accounts, rates, block lists and exchange rates. */
import type * as graph from '../../../schema/generated/console.ts';
import { sectionWords, type Pair } from './table.ts';

export const policyWords = sectionWords({
  tabs: {
    routes: ['Routes', 'Маршруты'],
    accounts: ['Accounts at acquirers', 'Счета у эквайеров'],
    rates: ['Fees', 'Комиссии'],
    blocks: ['Block lists', 'Блокировки'],
    words: ['Forbidden words', 'Запрещённые слова'],
    exchange: ['Exchange rates', 'Курсы'],
  },
  operations: {
    payment: ['Payments', 'Платежи'],
    refund: ['Refunds', 'Возвраты'],
    payout: ['Payouts', 'Выплаты'],
    recurrent: ['Charges of saved methods', 'Списания с сохранённых способов'],
  } satisfies Readonly<Record<graph.BankOperation, Pair<string>>>,
  methods: {
    sbp: ['SBP', 'СБП'],
    cards: ['Cards', 'Карты'],
    tpay: ['T-Pay', 'T-Pay'],
    sberpay: ['SberPay', 'SberPay'],
    card: ['To a card', 'На карту'],
    account: ['To an account', 'На счёт'],
  } satisfies Readonly<Record<graph.RouteMethod, Pair<string>>>,
  rated: {
    sbp: ['SBP', 'СБП'],
    cards: ['Cards', 'Карты'],
    tpay: ['T-Pay', 'T-Pay'],
    sberpay: ['SberPay', 'SberPay'],
    recurrent: ['Saved methods', 'Сохранённые способы'],
    payouts_sbp: ['Payouts by SBP', 'Выплаты по СБП'],
    payouts_card: ['Payouts to cards', 'Выплаты на карты'],
    payouts_account: ['Payouts to accounts', 'Выплаты на счета'],
  } satisfies Readonly<Record<graph.RatedMethod, Pair<string>>>,
  purposes: {
    payments: ['Payments and refunds', 'Платежи и возвраты'],
    payouts: ['Payouts', 'Выплаты'],
  } satisfies Readonly<Record<graph.BankAccountPurpose, Pair<string>>>,
  blockKinds: {
    phone: ['Phone', 'Телефон'],
    card: ['Card', 'Карта'],
    customer: ['Customer', 'Покупатель'],
    account: ['Account', 'Счёт'],
    country: ['Country', 'Страна'],
  } satisfies Readonly<Record<graph.BlockKind, Pair<string>>>,
  operation: ['Operation', 'Операция'],
  connector: ['Acquirer', 'Эквайер'],
  connectorHint: [
    'The name of the connector, such as yookassa or tbank',
    'Имя подключения, например yookassa или tbank',
  ],
  priority: ['Priority', 'Приоритет'],
  priorityHint: ['The lowest is asked first', 'Сначала выбирается наименьший'],
  on: ['Active', 'Используется'],
  off: ['Inactive', 'Не используется'],
  purpose: ['Purpose', 'Для чего'],
  account: ['Shop or terminal there', 'Магазин или терминал у эквайера'],
  secret: ['Secret', 'Секрет'],
  secretHint: [
    'It is sealed at once and never shown again',
    'Сразу шифруется и больше не показывается',
  ],
  since: ['From', 'С'],
  always: ['from the start', 'с начала'],
  ahead: ['not yet in force', 'ещё не действует'],
  percent: ['Fee, %', 'Комиссия, %'],
  percentHint: [
    '0 to 100, with two digits after the point',
    'От 0 до 100, до двух знаков после запятой',
  ],
  whose: ['Merchant', 'Чьё'],
  holdsFor: ['Holds for', 'Для кого'],
  allShops: ['All shops of the merchant', 'Все магазины мерчанта'],
  value: ['Value', 'Значение'],
  valueHint: [
    'A card or an account is kept as a digest; a country by its two letters',
    'Карта и счёт хранятся отпечатком; страна — двумя буквами',
  ],
  currency: ['Currency', 'Валюта'],
  usdt: ['Worth of one unit, USDT', 'Сколько USDT стоит единица'],
  routeAdd: ['Set a route', 'Задать маршрут'],
  routeText: [
    'New live operations of this shop and method go to this acquirer, the lowest priority first. Those under way stay where they are.',
    'Новые боевые операции магазина этим способом пойдут к этому эквайеру, начиная с наименьшего приоритета. Начатые останутся, где были.',
  ],
  routeRemove: ['Remove the route', 'Убрать маршрут'],
  routeRemoveText: [
    'New operations no longer take it. Without another they are refused.',
    'Новые операции по нему не пойдут. Если другого нет, они получат отказ.',
  ],
  accountAdd: ['Set an account', 'Задать счёт'],
  accountText: [
    'The next call to the acquirer uses it. Operations of the previous account are still queried there.',
    'Следующее обращение к эквайеру пойдёт с ним. Начатые операции завершатся по прежнему счёту.',
  ],
  accountRemove: ['Stop using it', 'Больше не использовать'],
  accountRemoveText: [
    'New orders go to the account of the service instead.',
    'Новые заказы пойдут со счётом сервиса.',
  ],
  rateAdd: ['Set a fee', 'Задать комиссию'],
  rateText: [
    'It applies to what succeeds from now on. Payments that have succeeded keep theirs.',
    'Действует для того, что завершится с этого момента. Прошлые платежи сохранят свою.',
  ],
  blockAdd: ['Block', 'Заблокировать'],
  blockText: [
    'Payments and payouts with it are refused with aml_blocked within a second.',
    'Через секунду платежи и выплаты с этим получат отказ aml_blocked.',
  ],
  blockRemove: ['Unblock', 'Разблокировать'],
  blockRemoveText: [
    'It is let through again within a second.',
    'Через секунду это снова пропускается.',
  ],
  wordAdd: ['Forbid a word', 'Запретить слово'],
  word: ['Word', 'Слово'],
  wordHint: [
    'Case is ignored; * at the end matches any ending',
    'Регистр не важен; * в конце заменяет любое окончание',
  ],
  wordText: [
    'New payments of all merchants whose description holds it are refused with forbidden_purpose.',
    'Новые платежи всех мерчантов с этим словом в описании отклоняются с кодом forbidden_purpose.',
  ],
  wordRemove: ['Allow', 'Разрешить'],
  wordRemoveText: (word: string) => [
    `Descriptions may hold "${word}" again.`,
    `Слово «${word}» снова можно писать в описании.`,
  ],
  wordsText: [
    'No description of a payment may hold these, at any merchant.',
    'Этих слов не может быть в описании платежа ни у одного мерчанта.',
  ],
  wordsEmpty: ['No word is forbidden', 'Запрещённых слов нет'],
  from: ['In force from', 'Действует с'],
  fromHint: [
    'Empty: from now on. Otherwise a moment ahead, in your time zone',
    'Пусто: с этого момента. Иначе момент в будущем, в вашем часовом поясе',
  ],
  fromText: (at: string) => [
    `It applies to what succeeds from ${at} on. Until then it can be replaced.`,
    `Действует для операций, которые завершатся успехом с ${at}. До этого её можно заменить.`,
  ],
  exchangeAdd: ['Set an exchange rate', 'Задать курс'],
  exchangeText: [
    'New payments are converted at this rate. Earlier ones keep theirs.',
    'По нему оцениваются новые платежи. Прежние сохранят свою оценку.',
  ],
  done: ['It is in force.', 'Действует.'],
  routesEmpty: [
    'No routes: live payments of this merchant are refused',
    'Маршрутов нет: боевые платежи мерчанта получают отказ',
  ],
  routesEmptyText: [
    'Set one for each method that its shops take. Test mode needs none.',
    'Задайте по одному на каждый способ. Тестовому режиму маршруты не нужны.',
  ],
  accountsEmpty: [
    'No accounts of its own: the account of the service serves this merchant',
    'Своих счетов нет: мерчанта обслуживает счёт сервиса',
  ],
  ratesEmpty: [
    'No fees of its own: those for all merchants apply',
    'Своих комиссий нет: действуют общие',
  ],
  ratesEmptyAll: [
    'No fees are set: nothing is charged',
    'Комиссии не заданы: ничего не удерживается',
  ],
  blocksEmpty: ['Nothing is blocked', 'Ничего не заблокировано'],
  exchangeEmpty: ['No exchange rates are set', 'Курсы не заданы'],
  ofAll: [
    'These apply to all merchants. Choose a merchant above to see its own.',
    'Это действует для всех мерчантов. Выберите мерчанта сверху, чтобы видеть его собственное.',
  ],
  liveOn: ['Switch live mode on', 'Включить боевой режим'],
  liveOnText: (name: string) => [
    `Keys sk_live_ of ${name} work within a second, and move real money by its routes.`,
    `Ключи sk_live_ мерчанта «${name}» заработают через секунду и будут проводить настоящие платежи.`,
  ],
  liveOff: ['Switch live mode off', 'Выключить боевой режим'],
  liveOffText: (name: string) => [
    `Keys sk_live_ of ${name} are refused within a second. Payments that were begun continue.`,
    `Ключи sk_live_ мерчанта «${name}» через секунду получат отказ. Начатые оплаты продолжатся.`,
  ],
});
