-- Texts in files and lists of leads. The functions are immutable expressions: the planner writes their bodies into the
-- statement that calls them.

-- Words for a home page, which titles begin or end with, as alternatives of a regular expression.
CREATE FUNCTION home_page_words() RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT 'home|home page|homepage|main page|start|start page|startpage|index|welcome|front page|frontpage|'
        'mysite|my site|website|startseite|start-seite|willkommen|herzlich willkommen|hauptseite|'
        'accueil|page d''accueil|bienvenue|inicio|página principal|página inicial|bienvenidos|bienvenido|'
        'início|bem-vindo|home pagina|pagina iniziale|benvenuti|welkom|startpagina|hem|startsida|startsidan|'
        'välkommen|välkomna|hjem|forside|forsiden|velkommen|hjemmeside|etusivu|tervetuloa|koti|kotisivu|'
        'avaleht|sākums|pradžia|strona główna|start strony|witamy|úvod|úvodní stránka|domů|domov|vitajte|'
        'vítejte|főoldal|kezdőlap|üdvözöljük|acasă|pagina principală|naslovna|početna|domača stran|'
        'начало|главная|главная страница|головна|αρχική|anasayfa|ana sayfa|'
        'ホーム|トップページ|首页|首頁|主页|홈|trang chủ|beranda|الرئيسية|דף הבית'
$$;

-- A title without a word for a home page at either end; NULL if nothing is left.
CREATE FUNCTION without_home_page_words(title text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT nullif(regexp_replace(btrim(regexp_replace(regexp_replace(title,
        '^(' || home_page_words() || ')\s*[-–—|·•»›>~/:]+\s*', '', 'i'),
        '\s*[-–—|·•»›>~/:]+\s*(' || home_page_words() || ')$', '', 'i')),
        '^(' || home_page_words() || ')$', '', 'i'), '')
$$;

-- The name of a business: as its provider gives it; if that name has expired or there is none, as its web site gives it
-- (the organisation, the site, the title, the domain).
CREATE FUNCTION business_name(name text, site_facts jsonb, site_title text, domain_name text)
RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT coalesce(
        nullif(name, '(expired under the provider''s terms)'),
        without_home_page_words(site_facts #>> '{organisation,name}'),
        without_home_page_words(site_facts ->> 'site_name'),
        without_home_page_words(site_title),
        domain_name,
        name)
$$;

-- A URL without the parameters that only track visitors.
CREATE FUNCTION without_tracking(url text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT regexp_replace(regexp_replace(url,
        '([?&])(((utm_[a-z_]+|gclid|gbraid|wbraid|dclid|fbclid|msclkid|yclid|twclid|igshid|mc_cid|mc_eid|_ga|y_source|'
        'gad_source|srsltid|hsa_[a-z]+|matomo_[a-z]+|pk_campaign|pk_source|pk_medium)=[^&#]*)(&|(?=#)|$))+',
        '\1', 'gi'), '[?&](?=#|$)', '')
$$;

-- The status of a business in words, from the different spellings of providers and files.
CREATE FUNCTION business_status_text(status text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE upper(replace(status, ' ', '_'))
        WHEN 'OPERATIONAL' THEN 'open'
        WHEN 'CLOSED_TEMPORARILY' THEN 'temporarily closed'
        WHEN 'CLOSED_PERMANENTLY' THEN 'permanently closed'
        ELSE lower(replace(status, '_', ' ')) END
$$;
