"""Invented pages: those that hide from a plain reader, by the reason, and ordinary small pages beside them."""

from collections.abc import Iterator
from typing import NamedTuple


class InventedPage(NamedTuple):
    """A page, the address it was fetched from, and why it hides; "" for an ordinary page."""

    name: str
    reason: str
    html: str
    url: str = "https://example.org/"


def page(body: str, *, title: str = "", head: str = "", language: str = "en", attributes: str = "") -> str:
    return (
        f"<!DOCTYPE html><html lang='{language}'><head><meta charset='utf-8'><title>{title}</title>{head}</head>"
        f"<body {attributes}>{body}</body></html>"
    )


# -- drawn by JavaScript ----------------------------------------------------------------------------------------------

_GTAG = "<script async src='https://www.googletagmanager.com/gtag/js?id=G-1'></script><script>gtag('config')</script>"
SHELLS = {
    "vite react fi": page(
        "<div id='root'></div>",
        title="Leipomo Kulta",
        language="fi",
        head="<script type='module' crossorigin src='/assets/index-CzX1a2b3.js'></script>",
    ),
    "create react app en": page(
        "<noscript>You need to enable JavaScript to run this app.</noscript><div id='root'></div>"
        "<script src='/static/js/main.1a2b3c4d.js'></script>",
        title="React App",
    ),
    "vue cli de": page(
        "<noscript><strong>Es tut uns leid, aber kunden-portal funktioniert ohne JavaScript nicht. Bitte "
        "aktivieren Sie "
        "es.</strong></noscript><div id='app'></div><script src='/js/chunk-vendors.77aa.js'></script>"
        "<script src='/js/app.0d1e.js'></script>",
        title="Malerbetrieb Quandt",
        language="de",
    ),
    "angular es": page(
        "<app-root></app-root><script src='runtime.a1b2c3d4e5f6.js' type='module'></script>"
        "<script src='main.0f9e8d7c6b5a.js' type='module'></script>",
        title="Clínica Robles",
        language="es",
    ),
    "angular with loader fr": page(
        "<app-root><div class='spinner'>Chargement…</div></app-root><script src='main.0f9e8d7c6b5a.js' "
        "type='module'></script>",
        title="Garage Martineau",
        language="fr",
    ),
    "nuxt spa ja": page(
        "<div id='__nuxt'></div><script>window.__NUXT__={}</script><script type='module' src='/_nuxt/entry.9a8b7c.js'>"
        "</script>",
        title="さくら歯科",
        language="ja",
    ),
    "next client only pt": page(
        "<div id='__next'></div><script id='__NEXT_DATA__' type='application/json'>{\"props\":{}}</script>"
        "<script src='/_next/static/chunks/main-abc123.js' defer></script>",
        title="Oficina Barros",
        language="pt",
    ),
    "flutter pl": page("<script src='flutter_bootstrap.js' async></script>", title="Warsztat Nowy", language="pl"),
    "svelte with loading tr": page(
        "<div id='app'><p>Yükleniyor...</p></div><script type='module' src='/build/bundle.js'></script>",
        title="Usta Berber",
        language="tr",
    ),
    "shell with cookie banner it": page(
        "<div id='root'></div><div class='cookie-banner'>Questo sito utilizza cookie. <button>Accetta</button></div>"
        "<script src='/static/js/main.77c1aa02.js'></script>",
        title="Pasticceria Luna",
        language="it",
    ),
    "redirect by script ru": page(
        "<script>window.location.href = '/home.html' + document.location.search;</script>", language="ru"
    ),
    "noscript only ar": page(
        "<noscript>يرجى تفعيل JavaScript لعرض هذا الموقع</noscript><script src='/bundle.js'></script>",
        title="مطعم النخيل",
        language="ar",
    ),
    "ember nl": page(
        "<div id='ember-app'></div><script src='/assets/vendor-9a8b7c6d5e4f.js'></script>"
        "<script src='/assets/app-1a2b3c4d5e6f.js'></script>",
        title="Bakker Smits",
        language="nl",
    ),
    "blazor cs": page(
        "<div id='app'>Načítání...</div><script src='_framework/blazor.webassembly.js'></script>",
        title="Truhlářství Dub",
        language="cs",
    ),
}

# -- bot checks -------------------------------------------------------------------------------------------------------

BOT_CHECKS = {
    "cloudflare en": page(
        "<div class='main-wrapper'><noscript><span id='challenge-error-text'>Enable JavaScript and cookies to continue"
        "</span></noscript></div><script>window._cf_chl_opt={cvId:'3'};</script>",
        title="Just a moment...",
    ),
    "cloudflare de": page(
        "<h1>example.org</h1><p>Bestätigen Sie, dass Sie ein Mensch sind. Dies kann einige Sekunden dauern.</p>"
        "<p>example.org muss die Sicherheit Ihrer Verbindung überprüfen, bevor Sie fortfahren können.</p>",
        title="Nur einen Moment…",
        language="de",
    ),
    "cloudflare blocked": page(
        "<div id='cf-error-details'><h1>Sorry, you have been blocked</h1><h2>You are unable to access example.org</h2>"
        "<p>Why have I been blocked? This website is using a security service to protect itself.</p></div>",
        title="Attention Required! | Cloudflare",
    ),
    "datadome fr": page(
        "<p id='cmsg'>Please enable JS and disable any ad blocker</p><script>var dd={'rt':'c','host':"
        "'geo.captcha-delivery.com'}</script><script src='https://ct.captcha-delivery.com/c.js'></script>",
        title="example.fr",
        language="fr",
    ),
    "imperva frame": page(
        "<iframe id='main-iframe' src='/_Incapsula_Resource?SWUDNSAI=31&xinfo=9-1'>Request unsuccessful. Incapsula "
        "incident ID: 1-2</iframe>",
        head="<meta name='ROBOTS' content='NOINDEX, NOFOLLOW'>",
    ),
    "imperva script": page("<script src='/_Incapsula_Resource?SWJIYLWA=719d34d31c8e3a6e6fffd425f7e032f3'></script>"),
    "perimeterx es": page(
        '<h1>Antes de continuar...</h1><p>Mantén pulsado para confirmar que eres una persona.</p><div id="px-captcha">'
        "</div><script src='https://captcha.px-cdn.net/PX1/captcha.js'></script>",
        title="Acceso denegado",
        language="es",
    ),
    "akamai": page(
        '<h1>Access Denied</h1>You don\'t have permission to access "http://example.org/" on this server.<p>Reference '
        "#18.1 <p>https://errors.edgesuite.net/18.1",
        title="Access Denied",
    ),
    "akamai challenge": page("<div id='sec-if-cpt-container'></div><script src='/_sec/cp_challenge/ak.js'></script>"),
    "sucuri": page(
        "<noscript>Javascript is required.</noscript><script>var s={},u,c;S='';sucuri_cloudproxy_js='';</script>"
    ),
    "aws": page(
        '<div id=\'captcha-container\'></div><script>window.gokuProps = {"key":"A"}</script>'
        "<script src='https://x.token.awswaf.com/challenge.js'></script>",
        title="Human Verification",
    ),
    "anubis": page(
        "<h1>Making sure you're not a bot!</h1><p>Loading...</p><script id='anubis_challenge' type='application/json'>"
        "{}</script>",
        title="Making sure you're not a bot!",
    ),
    "siteground it": page(
        "<h1>Verifica di sicurezza</h1><p>Conferma di essere umano per continuare.</p><form><div class='captcha'></div>"
        "</form>",
        title="Robot Challenge Screen",
        language="it",
    ),
    "recaptcha alone pl": page(
        "<p>Potwierdź, że nie jesteś robotem</p><form method='post'><div class='g-recaptcha' data-sitekey='k'></div>"
        "<input type='submit' value='Dalej'></form><script src='https://www.google.com/recaptcha/api.js'></script>",
        title="Weryfikacja",
        language="pl",
    ),
    "hcaptcha alone pt": page(
        "<p>Confirme que é humano</p><form><div class='h-captcha'></div></form><script "
        "src='https://hcaptcha.com/1/api.js'></script>",
        language="pt",
    ),
    "ddos-guard ru": page(
        "<h1>Проверка браузера перед переходом на example.ru</h1><p>Это займёт несколько секунд.</p><script "
        "src='/.well-known/ddos-guard/js-challenge/index.js'></script>",
        title="DDoS-Guard",
        language="ru",
    ),
    "cloudflare ja": page(
        "<p>続行するには、お客様が人間であることを確認します。</p>", title="しばらくお待ちください...", language="ja"
    ),
    "cloudflare tr": page(
        "<h1>ornek.com.tr</h1><p>Devam etmek için insan olduğunuzu doğrulayın.</p>",
        title="Bir dakika lütfen...",
        language="tr",
    ),
    "wordfence": page(
        "<h1>Your access to this site has been limited by the site owner</h1><p>Your access to this service has been "
        "limited. (HTTP response code 503)</p><p>Generated by Wordfence at Mon, 2 Nov 2026</p>",
        title="Your access to this site has been limited",
    ),
}

# -- login ------------------------------------------------------------------------------------------------------------


def _login(title: str, user: str, password: str, button: str, language: str, more: str = "") -> str:
    return page(
        f"<h1>{title}</h1><form method='post' action='/login'><label>{user}</label><input name='user'>"
        f"<label>{password}</label><input type='password' name='pass'><button>{button}</button></form>{more}",
        title=title,
        language=language,
    )


LOGINS = {
    "plain en": _login("Sign in", "Email", "Password", "Sign in", "en", "<a href='/forgot'>Forgot your password?</a>"),
    "typo3 de": _login("Anmeldung", "Benutzername", "Passwort", "Anmelden", "de"),
    "extranet fr": _login("Espace membre", "Identifiant", "Mot de passe", "Se connecter", "fr"),
    "portal es": _login("Iniciar sesión", "Usuario", "Contraseña", "Entrar", "es"),
    "intranet fi": _login("Kirjaudu sisään", "Tunnus", "Salasana", "Kirjaudu", "fi"),
    "panel pl": _login("Logowanie", "Login", "Hasło", "Zaloguj się", "pl"),
    "cabinet ru": _login("Вход в систему", "Логин", "Пароль", "Войти", "ru"),
    "members ja": _login("会員ログイン", "ID", "パスワード", "ログイン", "ja"),
    "wordpress sv": page(
        "<div id='login'><h1><a href='https://wordpress.org/'>WordPress</a></h1><form action='/wp-login.php'>"
        "<label>Användarnamn</label><input name='log'><label>Lösenord</label><input type='password' name='pwd'>"
        "<input type='submit' value='Logga in'></form><p><a href='/wp-login.php?action=lostpassword'>Glömt lösenordet?"
        "</a></p></div>",
        title="Logga in ‹ Klubben — WordPress",
        language="sv",
    ),
    "shopify password": page(
        "<h1>Quill & Ink</h1><p>Opening soon</p><form action='/password'><label>Enter store password</label>"
        "<input type='password' name='password'><button>Enter</button></form>",
        title="Quill & Ink",
    ),
    "squarespace private": page(
        "<div class='lock-screen'><h1>This site is private</h1><form><input type='password' placeholder='Password'>"
        "</form></div>",
        title="Private Site",
    ),
    "bare tr": page(
        "<form method='post'><input name='k'><input type='password' name='s'><button>Giriş</button></form>",
        language="tr",
    ),
}

# -- consent ----------------------------------------------------------------------------------------------------------

CONSENTS = {
    "wall en": page(
        "<h1>Before you continue</h1><p>We use cookies to deliver our services. Accept cookies to continue to the site."
        "</p><button>Accept all</button><button>Reject all</button><a href='/privacy'>Privacy policy</a>",
        title="Before you continue",
    ),
    "wall de": page(
        "<div id='cookie-consent'><h2>Wir benötigen Ihre Zustimmung</h2><p>Diese Website verwendet Cookies. "
        "Bitte stimmen "
        "Sie zu, um fortzufahren.</p><button>Alle akzeptieren</button><button>Einstellungen</button>"
        "<a href='/datenschutz'>Datenschutz</a> <a href='/impressum'>Impressum</a></div>",
        title="Tischlerei Vossberg",
        language="de",
    ),
    "wall fr": page(
        "<p>Nous utilisons des cookies pour améliorer votre expérience. Pour accéder au site, veuillez accepter les "
        "cookies.</p><a href='#ok'>Tout accepter</a> <a href='#no'>Refuser</a>",
        title="Boulangerie Vernet",
        language="fr",
    ),
    "wall fi": page(
        "<div class='consent-modal'><p>Käytämme evästeitä. Hyväksy evästeet jatkaaksesi.</p><button>Hyväksy kaikki"
        "</button></div>",
        title="Kukkakauppa Ruusu",
        language="fi",
    ),
    "wall es": page(
        "<p>Utilizamos cookies propias y de terceros. Debe aceptar las cookies para acceder a esta web.</p>"
        "<button>Aceptar</button>",
        title="Taller Robledo",
        language="es",
    ),
    "wall pl": page(
        "<p>Ta strona używa plików cookies. Aby przejść dalej, zaakceptuj pliki cookies.</p><button>Akceptuję</button>",
        title="Cukiernia Malina",
        language="pl",
    ),
    "consent host": page(
        "<h1>Your privacy</h1><p>We and our 842 partners store and access information on your device such as cookies. "
        "Click below to consent or to make choices.</p><button>I agree</button><button>Manage options</button>",
        title="Your privacy",
    ),
    "age en": page(
        "<div class='age-gate'><h1>Highland Stills</h1><p>Are you of legal drinking age in your country?</p>"
        "<a href='#yes'>Yes</a> <a href='https://www.responsibility.org/'>No</a></div>",
        title="Highland Stills",
    ),
    "age de": page(
        "<h1>Weingut Osterried</h1><p>Sind Sie über 18 Jahre alt?</p><button>Ja</button><button>Nein</button>",
        title="Weingut Osterried",
        language="de",
    ),
    "age it": page(
        "<p>Sei maggiorenne?</p><button>Sì</button><button>No</button>", title="Cantina Bricco", language="it"
    ),
}

# -- under construction -----------------------------------------------------------------------------------------------

_NOTICES = {
    "en": ("Website coming soon", "We are working hard to give you something nice."),
    "de": ("Hier entsteht eine neue Internetpräsenz", "Bitte schauen Sie später wieder vorbei."),
    "fr": ("Site en construction", "Revenez bientôt."),
    "es": ("Página en construcción", "Estamos preparando algo nuevo para usted."),
    "it": ("Sito in costruzione", "Torna a trovarci."),
    "pt": ("Site em construção", "Volte em breve."),
    "nl": ("Deze website is in aanbouw", "Kom binnenkort terug."),
    "fi": ("Sivusto on rakenteilla", "Palaa pian."),
    "sv": ("Hemsidan är under uppbyggnad", "Välkommen åter."),
    "pl": ("Strona w budowie", "Zapraszamy wkrótce."),
    "cs": ("Stránky jsou ve výstavbě", "Děkujeme za trpělivost."),
    "hu": ("Weboldalunk fejlesztés alatt áll", "Kérjük, látogasson vissza később."),
    "tr": ("Sitemiz yapım aşamasındadır", "Çok yakında sizlerle."),
    "ru": ("Сайт находится в разработке", "Зайдите позже."),
    "ja": ("ただいま準備中です", "今しばらくお待ちください。"),
    "zh": ("网站建设中", "敬请期待"),
    "ar": ("الموقع قيد الإنشاء", "سنعود إليكم قريبا"),
    "el": ("Η ιστοσελίδα είναι υπό κατασκευή", "Ελάτε ξανά σύντομα."),
}
UNFINISHED = {
    **{
        f"notice {language}": page(f"<h1>{notice}</h1><p>{more}</p>", title="Example", language=language)
        for language, (notice, more) in _NOTICES.items()
    },
    "elementor en": page(
        "<div class='elementor'><h2>COMING SOON</h2><p>Aldgate Florists</p></div>", title="Aldgate Florists"
    ),
    "wordpress maintenance": page(
        "<p>Briefly unavailable for scheduled maintenance. Check back in a minute.</p>", title="Maintenance"
    ),
    "seedprod de": page(
        "<h1>Wartungsmodus</h1><p>Wir sind in Kürze wieder erreichbar.</p>", title="Wartungsmodus", language="de"
    ),
    "nginx": page(
        "<h1>Welcome to nginx!</h1><p>If you see this page, the nginx web server is successfully installed "
        "and working. "
        "Further configuration is required.</p>",
        title="Welcome to nginx!",
    ),
    "apache": page(
        "<h1>It works!</h1>" + "<p>This is the default welcome page used to test the server.</p>" * 60,
        title="Apache2 Ubuntu Default Page: It works",
    ),
    "directory": page("<h1>Index of /</h1><a href='cgi-bin/'>cgi-bin/</a>", title="Index of /"),
    "suspended": page(
        "<h1>This Account has been suspended.</h1>Contact your hosting provider for more information.",
        title="Account Suspended",
    ),
    "squarespace expired": page(
        "<h1>Website Expired</h1><p>This account has expired. If you are the site owner, click below to login.</p>",
        title="Squarespace - Website Expired",
    ),
    "wix": page("<h1>Looks Like This Domain Isn't Connected To A Website Yet!</h1>", title="Error ConnectYourDomain"),
}

# -- ordinary pages ---------------------------------------------------------------------------------------------------

_TEXT = {
    "en": "We have baked bread in this street since 1962. Our ovens are lit at three in the morning, and the "
    "first loaves "
    "are on the counter at six. On Saturdays we bake rye, and before Christmas our stollen is sold within hours.",
    "de": "Seit 1962 backen wir in dieser Straße Brot. Um drei Uhr früh werden die Öfen geheizt, um sechs "
    "liegen die ersten "
    "Laibe auf der Theke. Samstags gibt es Roggenbrot, und vor Weihnachten ist unser Stollen in Stunden verkauft.",
    "fr": "Depuis 1962, nous cuisons le pain dans cette rue. Les fours sont allumés à trois heures, et les "
    "premiers pains "
    "sont sur le comptoir à six heures. Le samedi nous faisons du seigle, et à Noël nos bûches partent "
    "en quelques heures.",
    "es": "Horneamos pan en esta calle desde 1962. Encendemos los hornos a las tres de la mañana, y las "
    "primeras barras "
    "están en el mostrador a las seis. Los sábados hay pan de centeno, y antes de Navidad el turrón se vende en horas.",
    "fi": "Olemme leiponeet leipää tällä kadulla vuodesta 1962. Uunit lämpenevät kolmelta aamulla, ja "
    "ensimmäiset leivät "
    "ovat tiskillä kuudelta. Lauantaisin leivomme ruista, ja ennen joulua tortut myydään loppuun tunneissa.",
    "ja": "一九六二年からこの通りでパンを焼いています。午前三時に窯に火を入れ、六時には最初のパンが並びます。"
    "土曜日はライ麦パンの日です。",
}
_MENU = "".join(f"<a href='/{name}'>{name}</a> " for name in ("bread", "cakes", "history", "contact", "news"))
ORDINARY = {
    **{
        f"text {code}": page(f"<h1>Example</h1><p>{text}</p>", title="Example", language=code)
        for code, text in _TEXT.items()
    },
    "noscript banner": page(
        f"<noscript>Please enable JavaScript for the best experience.</noscript><nav>{_MENU}</nav><h1>Bakery</h1>"
        f"<p>{_TEXT['en']}</p><script src='/app.js'></script>"
    ),
    "noscript banner de": page(
        f"<noscript>Bitte aktivieren Sie JavaScript.</noscript><p>{_TEXT['de']}</p>", language="de"
    ),
    "cookie banner": page(
        f"<div class='cookie-banner'>We use cookies. <button>Accept</button></div><nav>{_MENU}</nav><p>"
        f"{_TEXT['en']}</p>"
    ),
    "cookie banner without menu": page(
        f"<div id='cookie-consent'>Wir verwenden Cookies. <button>Akzeptieren</button></div><h1>Bäckerei</h1>"
        f"<p>{_TEXT['de']}</p>",
        language="de",
    ),
    "cookie banner without a name": page(
        "<h1>Boulangerie Vernet</h1><p>Du pain au levain, chaque matin, au coin de la rue.</p><p>Ce site utilise des "
        "cookies. <button>Accepter</button></p>",
        language="fr",
    ),
    "cookie policy": page(
        f"<nav>{_MENU}</nav><h1>Cookie policy</h1><p>This site uses cookies to count visits. You can accept or reject "
        "them in your browser. We keep the data for thirteen months.</p>"
    ),
    "coming soon in news": page(
        f"<nav>{_MENU}</nav><h1>News</h1><p>Our second shop is coming soon: the kitchen is under construction, and we "
        f"open in May. {_TEXT['en']}</p>"
    ),
    "coming soon product": page(
        f"<h1>Menu</h1><h2>Summer menu</h2><p>Coming soon</p><h2>Bread</h2><p>{_TEXT['en']}</p>"
    ),
    "building company": page(
        "<h1>Rakennus Kallio</h1><p>Rakennamme ja kunnostamme taloja. Kohteita rakenteilla: kolme rivitaloa ja koulu. "
        "Työmme jälki kestää vuosikymmeniä, ja annamme sille kymmenen vuoden takuun.</p>",
        language="fi",
    ),
    "maintenance company": page(
        f"<nav>{_MENU}</nav><h1>Boiler maintenance</h1><p>Scheduled maintenance keeps your boiler safe. We service all "
        "makes, in summer and in winter, and leave the cellar clean.</p>"
    ),
    "login link": page(f"<header><a href='/login'>Log in</a> {_MENU}</header><h1>Bakery</h1><p>{_TEXT['en']}</p>"),
    "login form in header": page(
        "<header><form action='/login'><input name='u'><input type='password' name='p'><button>Login</button></form>"
        f"</header><nav>{_MENU}</nav><h1>Rowing club</h1><p>{_TEXT['en']}</p>"
    ),
    "login form in header, short": page(
        "<header><form action='/in'><input name='u'><input type='password' name='p'><button>OK</button></form></header>"
        f"<nav>{_MENU}</nav><h1>Turnverein</h1><p>Willkommen auf unserer Seite. Neues folgt im Frühling.</p>",
        language="de",
    ),
    "register form": page(
        f"<nav>{_MENU}<a href='/a'>a</a></nav><h1>Become a member</h1><p>{_TEXT['en']} {_TEXT['en']} {_TEXT['en']}</p>"
        "<form><input name='n'><input type='password' name='p'></form>"
    ),
    "recaptcha on a form": page(
        "<h1>Write to us</h1><form><input name='name'><input type='email' name='mail'><textarea "
        "name='message'></textarea>"
        "<div class='g-recaptcha'></div></form><script src='https://www.google.com/recaptcha/api.js'></script>"
    ),
    "turnstile on a form": page(
        "<h1>Kontakt</h1><form><input name='name'><textarea name='nachricht'></textarea><div "
        "class='cf-turnstile'></div>"
        "</form><script src='https://challenges.cloudflare.com/turnstile/v0/api.js'></script>",
        language="de",
    ),
    "cloudflare script on a page": page(
        f"<h1>Bakery</h1><p>{_TEXT['en']}</p><script src='/cdn-cgi/challenge-platform/scripts/jsd/main.js'></script>"
    ),
    "imperva script on a page": page(
        f"<h1>Bakery</h1><p>{_TEXT['en']}</p><script src='/_Incapsula_Resource?SWJIYLWA=1'></script>"
    ),
    "next server side": page(
        f"<div id='__next'><nav>{_MENU}</nav><h1>Bakery</h1><p>{_TEXT['en']}</p></div><script id='__NEXT_DATA__' "
        "type='application/json'>{}</script><script src='/_next/static/chunks/main-abc123.js'></script>"
    ),
    "next server side, short": page(
        "<div id='__next'><h1>Panadería Sol</h1><p>Pan de masa madre cada mañana en Sevilla, desde 1962.</p></div>"
        "<script src='/_next/static/chunks/main-abc123.js'></script>",
        language="es",
    ),
    "nuxt server side": page(
        f"<div id='__nuxt'><h1>Boulangerie</h1><p>{_TEXT['fr']}</p></div><script type='module' "
        f"src='/_nuxt/e.9a8b7c.js'>"
        "</script>",
        language="fr",
    ),
    "gatsby": page(
        f"<div id='___gatsby'><div id='gatsby-focus-wrapper'><p>{_TEXT['de']}</p></div></div>", language="de"
    ),
    "sveltekit": page(
        f"<div style='display: contents'><h1>Leipomo</h1><p>{_TEXT['fi']}</p><script type='module'>import('/_app/e.js')"
        "</script></div>",
        language="fi",
    ),
    "react widget on a page": page(
        f"<h1>Garage</h1><p>{_TEXT['en']}</p><div id='root'></div><script src='/static/js/main.1a2b3c4d.js'></script>"
    ),
    "one picture": page("<a href='home.html'><img src='splash.jpg' alt=''></a><script src='js/main.js'></script>"),
    "picture map": page("<img src='map.gif'><script src='js/app.js'></script>" + _GTAG, title="Motel"),
    "frames": "<html><head><title>Motel</title></head><frameset cols='20%,80%'><frame src='menu.htm'></frameset>"
    "</html>",
    "inner frame": page("<iframe src='https://sites.example/x'></iframe><script src='/main.js'></script>"),
    "blank with analytics": page(_GTAG, title=""),
    "hello": page("<h1>Hello</h1>" + _GTAG, title="Hello"),
    "short card": page("<h1>Ada Byron</h1><p>Piano tuner</p>" + _GTAG, title="Ada Byron"),
    "wait in a title": page(
        f"<h1>Just a moment</h1><p>A poem for a rainy day. {_TEXT['en']}</p>", title="Just a moment"
    ),
    "robot shop": page(
        f"<nav>{_MENU}</nav><h1>Are you a robot?</h1><p>Toy robots for children from three years, made of beech. "
        "Each of them walks, nods and waves, and none of them needs a battery.</p>"
    ),
    "wine shop": page(f"<nav>{_MENU}</nav><h1>Wines</h1><p>You must be 18 to buy wine from us. {_TEXT['en']}</p>"),
    "text hidden until drawn": page(
        f"<div id='app' style='visibility:hidden'><h1>Bakery</h1><p>{_TEXT['en']}</p></div><script "
        f"src='/app.1a2b3c4d.js'>"
        "</script>"
    ),
    "recaptcha badge on a card": page(
        "<h1>Ada Byron</h1><p>Piano tuner</p><script src='https://www.google.com/recaptcha/api.js?render=k'></script>"
    ),
    "noscript on a card": page("<noscript>Please enable JavaScript.</noscript><h1>Ada Byron</h1>" + _GTAG),
    "widget on a card": page("<h1>Ada Byron</h1><div id='app'></div><script src='/widget.js'></script>"),
    "course": page("<h1>JavaScript courses</h1>" + _GTAG, title="JavaScript courses"),
    "not found": page("<h1>404</h1><p>Page not found</p><a href='/'>Home</a>", title="404"),
    "not found de": page("<h1>Seite nicht gefunden</h1><p>Die Seite gibt es nicht mehr.</p>", language="de"),
    "opening hours": page("<h1>Café Lumen</h1><p>Mon to Fri 8 to 16</p><p>Closed on holidays</p>", title="Café Lumen"),
    "event soon": page(
        "<h1>Summer concert</h1><p>Tickets available soon. The choir sings in the old church on the first "
        "Sunday in June; "
        "the doors open at six, and there is coffee in the garden afterwards.</p>"
    ),
    "about login software": page(
        f"<nav>{_MENU}</nav><h1>Single sign-on for schools</h1><p>One login for all teachers. {_TEXT['en']}</p>"
    ),
    "list of posts": page("".join(f"<h2><a href='/post-{n}'>Post {n}</a></h2>" for n in range(12))),
    "japanese card": page("<h1>山本工務店</h1><p>木造住宅の設計と施工</p>", language="ja"),
    "arabic card": page("<h1>مطعم النخيل</h1><p>مأكولات شرقية في قلب المدينة</p>", language="ar"),
    "parking garage": page("<h1>Parkhaus Mitte</h1><p>Geparkt wird auf drei Ebenen.</p>", language="de"),
}


def hidden_pages() -> Iterator[InventedPage]:
    """Yield the pages that hide, class by class."""
    classes = {
        "javascript": SHELLS,
        "bot_check": BOT_CHECKS,
        "login": LOGINS,
        "consent": CONSENTS,
        "unfinished": UNFINISHED,
    }
    for reason, pages in classes.items():
        for name, html in pages.items():
            yield InventedPage(f"{reason}: {name}", reason, html)


def ordinary_pages() -> Iterator[InventedPage]:
    """Yield small pages that hide nothing."""
    for name, html in ORDINARY.items():
        yield InventedPage(f"ordinary: {name}", "", html)
